"""May what a mask selects be replaced by the whole? Only where each row is computed by itself.

A row is what stands at one place of the dimensions that the mask covers: one element, or all the
elements that stand there in the dimensions that the mask leaves out. Every rewriting that drops a
mask asks here, and nowhere else, how what it selects is computed with: functions and modules of the
project are followed statement by statement, with the number of dimensions that each variable has in
a row. A step where rows would meet, or that is not known, is refused.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeGuard

from tclint.semantics.bounds import Bound
from tclint.semantics.callees import Callee, callees
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, External, Object, Static, SymInt, Value
from tclint.torch_facts.pointwise import is_pointwise
from tclint.torch_facts.returns import method_returns
from tclint.torch_facts.table import canonical, section

from ..facts.known import certain_tensor
from ..facts.purity import is_pure
from .verdict import Changes, Refused, Verdict, combine

HOST: Final = -1
"""The number of dimensions of what is the same for all rows."""

_OPERATORS: Final = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr,
    ast.BitXor, ast.LShift, ast.RShift,
)  # fmt: skip
_ORDER: Final = (ast.Eq, ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.NotEq)
_WRITES: Final = ("inplace", "out")
_ALONG: Final = frozenset(
    "cumprod cumsum flip log_softmax logcumsumexp normalize softmax softmin".split()
)
"""Functions that keep the shape of a row where they are told its last dimension."""
_PARTS: Final = frozenset({"chunk", "split", "tensor_split"})
_OF_POWER: Final = frozenset({"norm", "normalize"})
"""Their first argument is no dimension but a power."""
_LAYERS: Final = frozenset({"LayerNorm", "Linear", "RMSNorm"})
"""Layers along the last dimension; torch's other ones are pointwise, or rows may meet in them."""
_ENDS: Final = ("-1", "(-1,)", "[-1]")
_SETTINGS: Final = frozenset("correction dtype keepdim mode p unbiased value".split())
_KEPT: Final = {"True": 0, "False": -1}
_CONVERTS: Final = frozenset({"to", "type"})
_LAYER_WRITES: Final = frozenset({"inplace", "max_norm", "scale_grad_by_freq"})
"""Settings of layers that write to their rows, or to the weights that the rows ask for."""
_RANDOM: Final = frozenset({"alpha_dropout", "dropout", "feature_alpha_dropout"})
_ASKS: Final = frozenset("all amax amin any max min".split())
CALLS: Final = Bound(3, "calls deep to see that rows do not meet", hides=False)
_MEETS: Final = "`{}` may depend on what else is selected"
_UNKNOWN: Final = "`{}` is not followed, and may depend on what else is selected"
_WRITTEN: Final = "`{}` may write to the rows"
_SPREAD: Final = "`{}` may not be the same for all that the mask selects"
_DOES_MORE: Final = "`{}` may do more than compute"
_ASSUMED: Final = (
    "the fix assumes that `{}` computes each row by itself, draws no random numbers and writes to "
    "no row"
)
_SAME: Final = "the fix assumes that `{}` is the same for all rows"
_MATRIX: Final = "the fix assumes that `{}` is a matrix"
_WIDTH: Final = "the fix assumes that `{}` is the size of the last dimension"
_DRAWN: Final = "`{}` draws other random numbers, because it draws them for all rows"

Read = Callable[[Any], int | None]


class RowsMeetError(Exception):
    """A step that may compute a row from other rows, or that is not known."""


def judge_rows(site: Site, node: ast.expr, read: Read, rank: int) -> Verdict:
    """Judge an expression whose parts that ``read`` knows are selected, to be computed as a whole.

    ``read`` gives the number of dimensions of a row for what the mask selects, and None for any
    other part. The result has to have ``rank`` dimensions in a row.
    """
    rows = RowByRow(site, read)
    try:
        rows.fits(node, rank)
    except RowsMeetError as error:
        return Refused(str(error))
    return rows.verdict


class RowByRow:
    """Follows what is computed with selected rows.

    ``flat``: the whole has one dimension of rows, as what is selected has. ``fresh``: the rows will
    be copies of their own, with the values of selected ones: code may write to them and ask about
    all of them, and numbers that are not known are assumed to be the same for all.
    ``trusting``: what is called with rows, and not known, is assumed to compute each by itself.
    Methods raise `RowsMeetError`.
    """

    def __init__(
        self,
        site: Site,
        read: Read,
        *,
        flat: bool = False,
        fresh: bool = False,
        trusting: bool = False,
        depth: int = CALLS.most,
    ) -> None:
        self._site = site
        self._read = read
        self._flat = flat
        self._fresh = fresh
        self._trusting = trusting
        self._depth = depth
        self._ranks: dict[str, int] = {}
        self._results: set[tuple[int, ...]] = set()
        self._notes: dict[Verdict, None] = {}

    @property
    def verdict(self) -> Verdict:
        """What the steps so far assume."""
        return combine(self._notes)

    def holds(self, name: str) -> bool:
        """True for a variable that holds rows after the steps so far."""
        return self._ranks.get(name, HOST) != HOST

    # Statements

    def follow(self, node: ast.stmt) -> None:
        """Take a statement as the next step."""
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Raise():
                return
            case ast.Expr(value=ast.Call() as call):
                self._check(call)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                self._written(node, target)
                rank = self.rank(ast.BinOp(_as_read(target), op, value))
                if isinstance(target, ast.Name):
                    self._ranks[target.id] = rank
            case ast.If(test=test, body=body, orelse=orelse):
                self._branch(test, body, orelse)
            case ast.Assert(test=test):
                self._asked(test)
            case ast.Return(value=ast.Tuple(elts=elements)):
                self._results.add(tuple(self.rank(one) for one in elements))
            case ast.Return(value=ast.expr() as value):
                self._results.add((self.rank(value),))
            case _:
                raise self._meets(node)

    def _written(self, node: ast.AST, target: ast.expr) -> None:
        """A store into a row is one into its copy, or there is none."""
        if self._has_rows(_as_read(target)) and not self._fresh:
            raise RowsMeetError(_WRITTEN.format(self._text(node)))

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._ranks[name] = self.rank(value)
            case ast.Tuple(elts=elements):
                names = [one.id for one in elements if isinstance(one, ast.Name)]
                ranks = self._several(value, len(elements))
                if len(names) < len(elements) or len(ranks) != len(names):
                    raise self._meets(target)
                self._ranks.update(zip(names, ranks, strict=True))
            case ast.Subscript():
                self._written(target, target)
                self._together(target, [_as_read(target), value])
            case _:
                raise self._meets(target)

    def _several(self, value: ast.expr, count: int) -> tuple[int, ...]:
        """The ranks of what is unpacked."""
        if not self._has_rows(value):
            return (HOST,) * count
        if not isinstance(value, ast.Call):
            raise self._meets(value)
        part = self._part(value)
        return (part,) * count if part is not None else self.results(value)

    def _branch(self, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        if len(body) == 1 and isinstance(body[0], ast.Raise) and not orelse:
            self._asked(test)
            return
        if self._has_rows(test):
            raise self._meets(test)
        before = dict(self._ranks)
        for statement in body:
            self.follow(statement)
        after, self._ranks = self._ranks, before
        for statement in orelse:
            self.follow(statement)
        for name in after.keys() & self._ranks.keys():
            if after[name] != self._ranks[name]:
                raise self._meets(test)
        self._ranks |= after

    def _check(self, call: ast.Call) -> None:
        """``check(x.min() >= 0, f"{x}")``: what it may do is raise."""
        for one in (*call.args, *(keyword.value for keyword in call.keywords)):
            if not isinstance(one, (ast.JoinedStr, ast.Lambda)):
                self._asked(one)

    def _asked(self, test: ast.expr) -> None:
        """A test is the same where some rows come twice, if it asks for all of them or one."""
        match test:
            case ast.BoolOp(values=parts):
                pass
            case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
                parts = [left, right]
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                parts = [operand]
            case ast.Compare(left=left, comparators=others):
                parts = [left, *others]
            case _:
                if self._has_rows(test) and not (self._fresh and self._is_question(test)):
                    raise self._meets(test)
                return
        for one in parts:
            self._asked(one)

    def _is_question(self, node: ast.expr) -> bool:
        """True for ``x.min()`` and ``torch.all(x)``."""
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="item"), args=[], keywords=[]):
                return self._is_question(owner)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), args=[], keywords=[]):
                asked = owner
            case ast.Call(func=ast.Attribute(attr=name), args=[asked], keywords=[]):
                if not (self._site.dotted(node.func) or "").startswith("torch."):
                    return False
            case _:
                return False
        return name in _ASKS and self.rank(asked) != HOST

    # Expressions

    def rank(self, node: ast.expr) -> int:
        """The number of dimensions in a row, or `HOST`."""
        known = self._held(node)
        if known is not None:
            return known
        if not self._has_rows(node):
            return HOST
        match node:
            case ast.BinOp(left=left, op=ast.MatMult(), right=right):
                return self._product(node, left, right)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
                return self._together(node, [left, right])
            case ast.Compare(left=left, comparators=[right], ops=[op]) if isinstance(op, _ORDER):
                return self._together(node, [left, right])
            case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=operand):
                return self.rank(operand)
            case ast.IfExp(test=test, body=body, orelse=orelse) if not self._has_rows(test):
                return self._alike(node, [body, orelse])
            case ast.Subscript(value=owner, slice=index):
                return self._item(node, owner, index)
            case ast.Call():
                return self._call(node)
        raise self._meets(node)

    def _held(self, node: ast.AST) -> int | None:
        if isinstance(node, ast.Name) and node.id in self._ranks:
            return self._ranks[node.id]
        return self._read(node)

    def _has_rows(self, node: ast.AST) -> bool:
        known = self._held(node)
        if known is not None:
            return known != HOST
        match node:
            case ast.Attribute(attr="dtype" | "device") | ast.Compare(ops=[ast.Is() | ast.IsNot()]):
                return False
            case ast.Subscript(value=ast.Attribute(value=tensor, attr="shape"), slice=index):
                if _is_last(index) and self._has_rows(tensor):
                    return self.rank(tensor) < 1
        return any(self._has_rows(one) for one in ast.iter_child_nodes(node))

    def _alike(self, node: ast.AST, parts: Sequence[ast.expr]) -> int:
        ranks = {self.rank(one) for one in parts}
        if len(ranks) > 1:
            raise self._meets(node)
        return ranks.pop()

    def _together(self, node: ast.AST, parts: Sequence[ast.expr]) -> int:
        """Of rows with other numbers of dimensions, some would be spread over others."""
        found = {rank for one in parts if (rank := self.rank(one)) != HOST}
        if len(found) != 1:
            raise self._meets(node)
        rank = found.pop()
        for one in parts:
            self.fits(one, rank)
        return rank

    def fits(self, node: ast.expr, rank: int) -> None:
        """Check that a part has ``rank`` dimensions in a row, or is the same for all rows."""
        found = self.rank(node)
        if found == HOST:
            self._spreads(node, rank)
        elif found != rank:
            raise self._meets(node)

    def _spreads(self, node: ast.expr, rank: int) -> None:
        """What is no row is a number, or a tensor that fits each row; others may hold rows."""
        if not is_pure(self._site, node) and not self._trusting:
            raise RowsMeetError(_DOES_MORE.format(self._text(node)))
        tensor = certain_tensor(self._site, node)
        if tensor is not None and tensor.rank is not None and tensor.rank <= rank:
            return
        if _is_plain(self._site, node):
            return
        if not (self._fresh or self._trusting):
            raise RowsMeetError(_SPREAD.format(self._text(node)))
        self._note(_SAME, node)

    def _product(self, node: ast.expr, left: ast.expr, right: ast.expr) -> int:
        """``rows @ w``: each row times a matrix that is the same for all."""
        rank = self.rank(left)
        if self._has_rows(right) or rank < 1:
            raise self._meets(node)
        self._matrix(node, right)
        return rank

    def _matrix(self, node: ast.expr, factor: ast.expr) -> None:
        tensor = certain_tensor(self._site, factor)
        if tensor is None or tensor.rank is None:
            self._note(_MATRIX, factor)
        elif tensor.rank != 2:
            raise self._meets(node)

    def _item(self, node: ast.expr, owner: ast.expr, index: ast.expr) -> int:
        part = self._part(owner) if isinstance(owner, ast.Call) else None
        if part is not None and isinstance(index, ast.Constant):
            return part
        if self._has_rows(index):
            raise self._meets(node)
        rank = self.rank(owner)
        match index:
            case ast.Tuple(elts=[ast.Constant(value=first), last]) if first is ...:
                pass
            case ast.Tuple(elts=[ast.Slice(lower=None, upper=None, step=None), last]) if self._flat:
                pass
            case _:
                raise self._meets(node)
        if isinstance(last, ast.Constant) and last.value is None:
            return rank + 1
        if isinstance(last, ast.Slice) and rank > 0:
            return rank
        if rank > 0 and _is_place(last):
            return rank - 1
        raise self._meets(node)

    # Calls

    def _call(self, call: ast.Call) -> int:
        if any(one.arg in _WRITES for one in call.keywords):
            raise RowsMeetError(_WRITTEN.format(self._text(call)))
        of_torch = self._of_torch(call)
        if of_torch is not None:
            return self._operation(call, *of_torch)
        kinds = [*options(self._site.value(call.func))]
        layers = [kind for kind in kinds if _is_layer(kind)]
        if len(layers) == len(kinds):
            ranks = [*{self._layer(call, layer) for layer in layers}]
        else:
            ranks = [*self.results(call)]
        if len(ranks) != 1:
            raise self._meets(call)
        return ranks[0]

    def _of_torch(self, call: ast.Call) -> tuple[str, list[ast.expr]] | None:
        """The name of a function or method of torch, and its arguments from its tensor on."""
        dotted = canonical(self._site.dotted(call.func) or "")
        if dotted.startswith("torch.") and call.args:
            return dotted, call.args
        if isinstance(call.func, ast.Attribute) and self._has_rows(call.func.value):
            return call.func.attr, [call.func.value, *call.args]
        return None

    def _operation(self, call: ast.Call, key: str, given: list[ast.expr]) -> int:
        told = {one.arg: one.value for one in call.keywords}
        name, operands = key.rpartition(".")[2], [*given, *told.values()]
        if self._is_pointwise(key, given, [*told.values()]):
            return self.rank(given[0]) if name in _CONVERTS else self._together(call, operands)
        if name in _RANDOM and not self._fresh:
            self._note(_DRAWN, call.func)
            return self.rank(given[0])
        if name == "matmul" and len(operands) == 2:
            return self._product(call, *operands)
        rank, others = self.rank(given[0]), operands[1:]
        if name == "gather" and len(others) == 2 and _is_last(others[0]) and rank > 0:
            return self._alike(call, [given[0], others[1]])
        if any(map(self._has_rows, others)):
            raise self._meets(call)
        if name == "unsqueeze" and len(others) == 1 and _is_last(others[0]):
            return rank + 1
        found = self._along(call, name, given[1:], told) if rank > 0 else None
        if found is None:
            raise self._meets(call)
        return rank + found

    def _is_pointwise(self, key: str, given: list[ast.expr], told: list[ast.expr]) -> bool:
        """True for a form of arguments in which it is; a setting may be told by its name."""
        form, named = ("".join(map(self._letter, some)) for some in (given, told))
        return any(is_pointwise(key, form + more) for more in (named, named.replace("n", "")))

    def _letter(self, node: ast.expr) -> str:
        tensor = self._has_rows(node) or certain_tensor(self._site, node) is not None
        return "t" if tensor else "n"

    def _along(
        self,
        call: ast.Call,
        name: str,
        rest: list[ast.expr],
        told: Mapping[str | None, ast.expr],
    ) -> int | None:
        """By how much what computes along the last dimension changes the rank; None for others."""
        if name == "linear" and rest:
            self._matrix(call, rest[0])
            return 0
        if name in ("layer_norm", "rms_norm") and rest:
            return 0 if self._is_width(rest[0]) else None
        if name in ("reshape", "view") and len(rest) == 2 and _is_last(rest[0]) and self._flat:
            own = self.rank(call.func.value) if isinstance(call.func, ast.Attribute) else 0
            return 0 if own == 1 and self._is_width(rest[1]) else None
        if name == "pad":
            pad = told.get("pad", rest[0] if rest else None)
            return 0 if isinstance(pad, (ast.Tuple, ast.List)) and len(pad.elts) == 2 else None
        if not _tells_last(name, rest, told) or not told.keys() <= {"dim", "dims", *_SETTINGS}:
            return None
        if name in _ALONG:
            return 0
        if name in section("along_dim") and method_returns(name) == "tensor":
            return _KEPT.get(ast.unparse(told["keepdim"]) if "keepdim" in told else "False")
        return None

    def _is_width(self, size: ast.expr) -> bool:
        """True for one number, which has to be the size of the last dimension."""
        if isinstance(size, (ast.Tuple, ast.List)):
            return len(size.elts) == 1
        self._note(_WIDTH, size)
        return True

    def _part(self, call: ast.Call) -> int | None:
        """The rank of each part that a row is split into; None for other calls."""
        key, given = self._of_torch(call) or ("", [])
        told = {one.arg: one.value for one in call.keywords}
        name = key.rpartition(".")[2]
        if name not in _PARTS or any(map(self._has_rows, [*given[1:], *told.values()])):
            return None
        rank, dim = self.rank(given[0]), told.get("dim", given[2] if len(given) > 2 else None)
        return rank if rank > 0 and dim is not None and _is_last(dim) else None

    def _layer(self, call: ast.Call, layer: Object) -> int:
        """A module of torch."""
        made, name = layer.site, canonical(layer.name)
        settings = {one.arg for one in made.keywords} if isinstance(made, ast.Call) else set()
        if not settings.isdisjoint(_LAYER_WRITES):
            raise RowsMeetError(_WRITTEN.format(self._text(call.func)))
        rank = self.rank(call.args[0]) if len(call.args) == 1 and not call.keywords else HOST
        last = name.rpartition(".")[2]
        if is_pointwise(name, "t") and rank != HOST:
            return rank
        if last in _LAYERS and rank > 0:
            return rank
        if last == "Embedding" and rank != HOST:
            return rank + 1
        if "Dropout" in last and rank != HOST and not self._fresh:
            self._note(_DRAWN, call.func)
            return rank
        raise self._meets(call.func)

    def results(self, call: ast.Call) -> tuple[int, ...]:
        """The ranks of all that a function of the project returns."""
        given = [*call.args, *(one.value for one in call.keywords)]
        rows = {one: rank for one in given if (rank := self.rank(one)) != HOST}
        reached = [*self._followed(call)]
        if not reached and self._is_trusted(call) and len(rows) == 1:
            self._note(_ASSUMED, call.func)
            return tuple(rows.values())
        results = {self._through(call, callee, rows) for callee in reached}
        if len(results) != 1:
            raise RowsMeetError(_UNKNOWN.format(self._text(call.func)))
        return results.pop()

    def _is_trusted(self, call: ast.Call) -> bool:
        return self._trusting and not hasattr(builtins, self._site.dotted(call.func) or "")

    def _followed(self, call: ast.Call) -> list[Callee]:
        """The functions that a call reaches; none where one of them is not plain to follow."""
        if not self._depth:
            CALLS.cut()
        reached = callees(self._site, call) if self._depth else []
        exact = all(isinstance(kind, Object) for kind in options(self._site.value(call.func)))
        plain = all(_is_followed(callee) and (exact or not callee.open) for callee in reached)
        return reached if plain else []

    def _through(
        self, call: ast.Call, callee: Callee, rows: Mapping[ast.expr, int]
    ) -> tuple[int, ...]:
        inner = RowByRow(
            callee.site,
            _nothing,
            flat=self._flat,
            fresh=self._fresh,
            trusting=self._trusting,
            depth=self._depth - 1,
        )
        for argument in (*call.args, *(one.value for one in call.keywords)):
            name = callee.parameter(call, argument)
            if name is None:
                raise self._meets(call)
            inner._ranks[name] = rows.get(argument, HOST)
        scope = callee.site.body.scope
        assert isinstance(scope, ast.FunctionDef)
        for statement in scope.body:
            inner.follow(statement)
        if len(inner._results) != 1:
            raise self._meets(call)
        self._notes |= inner._notes
        return inner._results.pop()

    # What is said

    def _note(self, what: str, node: ast.expr) -> None:
        self._notes[Changes(what.format(self._text(node)))] = None

    def _meets(self, node: ast.AST) -> RowsMeetError:
        return RowsMeetError(_MEETS.format(self._text(node)))

    def _text(self, node: ast.AST) -> str:
        if isinstance(node, (ast.expr, ast.stmt)) and hasattr(node, "lineno"):
            return self._site.text(node)
        return ast.unparse(node)  # put together from parts of the program


def _nothing(_: ast.AST) -> None:
    """What a function is given is in its parameters."""


def _is_layer(kind: Value) -> TypeGuard[Object]:
    torch = isinstance(kind, Object) and canonical(kind.name).startswith("torch.nn.")
    return torch and isinstance(kind, Object) and kind.is_module and kind.cls is None


def _is_followed(callee: Callee) -> bool:
    scope = callee.site.body.scope
    return isinstance(scope, ast.FunctionDef) and not scope.decorator_list


def _is_plain(site: Site, node: ast.expr) -> bool:
    """True for what is certainly no tensor: a number, a text, a dtype."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.Attribute) and node.attr in ("dtype", "device"):
        return True
    plain = (DataScalar, External, Static, SymInt)
    return all(isinstance(kind, plain) for kind in options(site.value(node)))


def _as_read(target: ast.expr) -> ast.expr:
    """What a store writes to, as an expression."""
    return ast.Name(id=target.id, ctx=ast.Load()) if isinstance(target, ast.Name) else target


def _is_last(node: ast.expr) -> bool:
    return ast.unparse(node) in _ENDS


def _tells_last(name: str, rest: Sequence[ast.expr], told: Mapping[str | None, ast.expr]) -> bool:
    """True where the last dimension is told, and no other; the first argument may be a power."""
    dim = told.get("dim", told.get("dims"))
    powers = 1 if name in _OF_POWER else 0
    if dim is not None:
        return _is_last(dim) and len(rest) <= powers
    return len(rest) == powers + 1 and _is_last(rest[-1])


def _is_place(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) is int
