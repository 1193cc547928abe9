"""Does a function of the project compute each row of what it is given by itself?

A row is what stands at one place of the first dimension. The function is followed statement by
statement, with the number of dimensions that each variable has in a row; one where rows would meet
is refused. Only what is asked of all rows at once to raise, such as ``x.min() < 0``, may see them
together: it is the same where some of the rows come twice.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Final

from tclint.semantics.callees import callees
from tclint.semantics.site import Site
from tclint.semantics.symbols import parameters_of

_POINTWISE: Final = frozenset(
    "abs add clamp clip clone contiguous cos detach div double elu erf exp expm1 float log log1p "
    "logical_not mul neg pow reciprocal relu rsqrt sigmoid sign sin softplus sqrt square sub tanh "
    "where".split()
)
_ALONG: Final = frozenset("cumprod cumsum flip log_softmax softmax".split())
_OVER: Final = frozenset("amax amin argmax argmin logsumexp mean prod sum".split())
_ASKS: Final = frozenset("all amax amin any max min".split())
_CREATES: Final = frozenset("empty_like full_like ones_like zeros_like".split())
_DEEPEST: Final = 3
_STATIC: Final = frozenset("bool float int len max min range".split())

HOST: Final = -1
"""What is the same for all rows."""


class RowsMeetError(Exception):
    """A step that may compute a row from other rows, or that is not known."""

    def __init__(self, node: ast.AST) -> None:
        """``node`` is the step."""
        super().__init__(ast.unparse(node))


def ranks_through(
    site: Site, call: ast.Call, given: Mapping[ast.expr, int], depth: int = _DEEPEST
) -> tuple[int, ...]:
    """How many dimensions each result has in a row; ``given`` says that of the arguments.

    Raises:
        RowsMeetError: a step may compute a row from others.
    """
    reached = callees(site, call)
    if len(reached) != 1 or reached[0].open or depth == 0:
        raise RowsMeetError(call)
    [callee] = reached
    node = callee.site.body.scope
    plain = isinstance(node, ast.FunctionDef) and not node.decorator_list
    if not plain or not isinstance(node, ast.FunctionDef) or callee.hidden:
        raise RowsMeetError(call)
    ranks = {parameter.arg: HOST for parameter, _ in parameters_of(node)}
    for argument, rank in given.items():
        name = callee.parameter(call, argument)
        if name is None:
            raise RowsMeetError(call)
        ranks[name] = rank
    return _Function(callee.site, ranks, depth).results(node.body)


class _Function:
    """Follows the statements of a function."""

    def __init__(self, site: Site, ranks: dict[str, int], depth: int) -> None:
        self._site = site
        self._ranks = ranks
        self._depth = depth
        self._results: set[tuple[int, ...]] = set()

    def results(self, body: Sequence[ast.stmt]) -> tuple[int, ...]:
        self._block(body)
        if len(self._results) != 1:
            raise RowsMeetError(self._site.body.scope)
        return self._results.pop()

    def _block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                return
            case ast.Expr(value=ast.Call() as call):
                self._check(call)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AugAssign(target=target, value=value):
                self._operands(node, [self._rank(_as_read(target)), self._rank(value)])
            case ast.If(test=test, body=body, orelse=orelse):
                self._branch(test, body, orelse)
            case ast.Assert(test=test):
                self._asked(test)
            case ast.Raise():
                return
            case ast.Return(value=ast.Tuple(elts=elements)):
                self._results.add(tuple(self._row(one) for one in elements))
            case ast.Return(value=ast.expr() as value):
                self._results.add((self._row(value),))
            case _:
                raise RowsMeetError(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._ranks[name] = self._rank(value)
            case ast.Tuple(elts=elements) if isinstance(value, ast.Call):
                ranks = self._called(value)
                names = [one.id for one in elements if isinstance(one, ast.Name)]
                if len(names) < len(elements) or len(ranks) != len(names):
                    raise RowsMeetError(target)
                self._ranks.update(zip(names, ranks, strict=True))
            case ast.Subscript():
                self._operands(target, [self._rank(_as_read(target)), self._rank(value)])
            case _:
                raise RowsMeetError(target)

    def _branch(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        raises = len(body) == 1 and isinstance(body[0], ast.Raise) and not orelse
        if raises:
            self._asked(test)
            return
        if self._rank(test) != HOST:
            raise RowsMeetError(test)
        before = dict(self._ranks)
        self._block(body)
        after, self._ranks = self._ranks, before
        self._block(orelse)
        for name in after.keys() & self._ranks.keys():
            if after[name] != self._ranks[name]:
                raise RowsMeetError(test)
        self._ranks |= after

    def _check(self, call: ast.Call) -> None:
        """``check(x.min() >= 0, f"{x}")``: what it may do is raise."""
        for one in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not isinstance(one, (ast.JoinedStr, ast.Lambda)):
                self._asked(one)

    def _asked(self, test: ast.expr) -> None:
        """A test is the same where some rows come twice, if it asks for all of them or one."""
        match test:
            case ast.BoolOp(values=values):
                for one in values:
                    self._asked(one)
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                self._asked(left)
                self._asked(right)
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                self._asked(operand)
            case ast.Compare(left=left, comparators=others):
                for one in (left, *others):
                    self._asked(one)
            case _:
                if self._question(test) is None and self._rank(test) != HOST:
                    raise RowsMeetError(test)

    def _question(self, node: ast.expr) -> ast.expr | None:
        """What ``x.min()`` and ``torch.all(x)`` ask about; None for other expressions."""
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]) if (
                name in _ASKS
            ):
                asked = owner
            case ast.Call(func=ast.Attribute(attr=name), args=[asked], keywords=[]) if (
                name in _ASKS and (self._site.dotted(node.func) or "").startswith("torch.")
            ):
                pass
            case ast.Call(func=ast.Attribute(value=owner, attr="item"), args=[], keywords=[]):
                return self._question(owner)
            case _:
                return None
        self._row(asked)
        return asked

    # Expressions

    def _row(self, node: ast.expr) -> int:
        rank = self._rank(node)
        if rank == HOST:
            raise RowsMeetError(node)
        return rank

    def _operands(self, node: ast.AST, ranks: Sequence[int]) -> int:
        """Of two tensors with other numbers of dimensions, one would be spread over the rows."""
        rows = {rank for rank in ranks if rank != HOST}
        if len(rows) > 1:
            raise RowsMeetError(node)
        return rows.pop() if rows else HOST

    def _rank(self, node: ast.expr) -> int:
        match node:
            case ast.Constant() | ast.JoinedStr():
                return HOST
            case ast.Name(id=name):
                return self._ranks.get(name, HOST)
            case ast.BinOp(left=left, op=op, right=right) if not isinstance(op, ast.MatMult):
                return self._operands(node, [self._rank(left), self._rank(right)])
            case ast.Compare(left=left, comparators=others):
                return self._operands(node, [self._rank(one) for one in (left, *others)])
            case ast.UnaryOp(op=ast.USub() | ast.Invert() | ast.Not(), operand=operand):
                return self._rank(operand)
            case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
                return self._only_host(node, values)
            case ast.IfExp():
                return self._either(node)
            case ast.Attribute(value=owner, attr=name):
                return self._attribute(node, owner, name)
            case ast.Subscript(value=owner, slice=index):
                return self._item(node, owner, index)
            case ast.Call():
                return self._call(node)
        raise RowsMeetError(node)

    def _either(self, node: ast.IfExp) -> int:
        self._only_host(node, [node.test])
        ranks = {self._rank(node.body), self._rank(node.orelse)}
        if len(ranks) > 1:
            raise RowsMeetError(node)
        return ranks.pop()

    def _only_host(self, node: ast.AST, values: Sequence[ast.expr]) -> int:
        if any(self._rank(one) != HOST for one in values):
            raise RowsMeetError(node)
        return HOST

    def _attribute(self, node: ast.expr, owner: ast.expr, name: str) -> int:
        if self._site.dotted(node) is not None and self._is_module(node):
            return HOST
        rank = self._rank(owner)
        if rank == HOST or name in ("dtype", "device"):
            return HOST
        raise RowsMeetError(node)

    def _is_module(self, node: ast.expr) -> bool:
        """True for ``torch.float32``: a name of an imported module."""
        while isinstance(node, ast.Attribute):
            node = node.value
        return isinstance(node, ast.Name) and node.id not in self._ranks

    def _item(self, node: ast.expr, owner: ast.expr, index: ast.expr) -> int:
        match owner:
            case ast.Attribute(value=tensor, attr="shape") if _last(index):
                if self._rank(tensor) != 0:
                    return HOST
                raise RowsMeetError(node)
        rank = self._rank(owner)
        if rank == HOST:
            return self._only_host(node, [] if isinstance(index, ast.Slice) else [index])
        match index:
            case ast.Tuple(elts=[ast.Constant(value=first), last]) if first is ...:
                pass
            case _:
                raise RowsMeetError(node)
        match last:
            case ast.Constant(value=None):
                return rank + 1
            case ast.Slice() if rank > 0:
                bounds = [one for one in (last.lower, last.upper, last.step) if one is not None]
                self._only_host(last, bounds)
                return rank
            case ast.expr() if rank > 0 and _is_place(last):
                return rank - 1
        raise RowsMeetError(node)

    def _call(self, call: ast.Call) -> int:
        dotted = self._site.dotted(call.func) or ""
        given = [*call.args, *(one.value for one in call.keywords)]
        if isinstance(call.func, ast.Name) and call.func.id in _STATIC and dotted == call.func.id:
            return self._only_host(call, given)
        if any(one.arg in ("out", "inplace") for one in call.keywords):
            raise RowsMeetError(call)
        if dotted.startswith("torch.") and call.args:
            name = dotted.rpartition(".")[2]
            return self._named(call, name, call.args[0], call.args[1:])
        if isinstance(call.func, ast.Attribute) and self._is_row(call.func.value):
            return self._named(call, call.func.attr, call.func.value, call.args)
        if all(self._rank(one) == HOST for one in given) and dotted.startswith(("math.", "numpy.")):
            return HOST
        ranks = self._called(call)
        if len(ranks) != 1:
            raise RowsMeetError(call)
        return ranks[0]

    def _is_row(self, node: ast.expr) -> bool:
        names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
        return any(self._ranks.get(name.id, HOST) != HOST for name in names)

    def _called(self, call: ast.Call) -> tuple[int, ...]:
        given = [*call.args, *(one.value for one in call.keywords)]
        rows = {one: rank for one in given if (rank := self._rank(one)) != HOST}
        return ranks_through(self._site, call, rows, self._depth - 1)

    def _named(self, call: ast.Call, name: str, first: ast.expr, rest: list[ast.expr]) -> int:
        """A function or method of torch, by its name; ``first`` is the tensor."""
        keywords = {one.arg: one.value for one in call.keywords}
        rank = self._rank(first)
        if name in _CREATES and not rest:
            return rank
        if name in _POINTWISE:
            others = [self._rank(one) for one in (*rest, *keywords.values())]
            return self._operands(call, [rank, *others])
        if rank < 1:
            raise RowsMeetError(call)
        told = {key: value for key, value in keywords.items() if key not in ("dim", "dtype")}
        last = keywords.get("dim", rest[0] if rest else None)
        if name == "pad" and _pads_last(rest, keywords):
            self._only_host(call, [*rest, *keywords.values()])
            return rank
        gathers = name == "gather" and len(rest) == 2 and _last(rest[0]) and not keywords
        if gathers and self._rank(rest[1]) == rank:
            return rank
        alone = len(rest) + ("dim" in keywords) == 1 and last is not None and _last(last)
        if name in _ALONG and alone and not told:
            return rank
        if name in _OVER and alone and (not told or _keeps(told)):
            return rank if told else rank - 1
        raise RowsMeetError(call)


def _as_read(target: ast.expr) -> ast.expr:
    """What a store writes to, as an expression."""
    if isinstance(target, ast.Name):
        return ast.Name(id=target.id, ctx=ast.Load())
    return target


def _last(node: ast.expr) -> bool:
    return ast.unparse(node) == "-1"


def _is_place(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) is int


def _keeps(told: Mapping[str | None, ast.expr]) -> bool:
    kept = told.get("keepdim")
    return len(told) == 1 and isinstance(kept, ast.Constant) and kept.value is True


def _pads_last(rest: Sequence[ast.expr], keywords: Mapping[str | None, ast.expr]) -> bool:
    """True for ``pad=(1, 0)``, which pads the last dimension alone."""
    pad = keywords.get("pad", rest[0] if rest else None)
    return isinstance(pad, (ast.Tuple, ast.List)) and len(pad.elts) == 2
