"""``i, rows = torch.where(mask)``: what is added to the selected rows is computed for all rows.

The usual form is a mixture of experts::

    slots, rows = torch.where(mask)
    out.index_add_(0, rows, expert(x[rows]) * weights[rows, slots, None])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.records import record
from tclint.semantics.site import Site

from ..facts.compiling import is_compiled_aside
from ..facts.known import certain_tensor, is_boolean
from ..facts.reaching import block_of
from ..facts.selections import asks_whether_empty, selection_in
from ..judge.no_rows import members_of
from ..judge.row_by_row import RowByRow, RowsMeetError
from ..judge.verdict import Changes, Refused, Verdict, combine
from .proved import repair_as_proved

_MESSAGE: Final = "Compute all rows, with a weight of zero for those that the mask leaves out"
_COST: Final = (
    "all rows are computed, which takes longer where `{0}` selects few of them; the fix assumes "
    "that `{0}` has one element for each row; the last bits of the results may differ"
)
_SPREADS: Final = "infinity or NaN in a row that is not selected, or computed from it, makes it NaN"
_RUNS: Final = (
    "the code below runs even where `{}` is empty: parameters that were not used get a gradient "
    "of zero instead of None"
)
_SEVERAL: Final = "the selected rows are used in a way that tclint does not follow"
_UNWEIGHTED: Final = "what is added is not weighted, so the mask has to choose it"


@record(frozen=True)
class _Selection:
    """``slots, rows = torch.where(mask)``, and where the rows end."""

    site: Site
    made: ast.Assign
    mask: ast.expr
    rows: set[str]
    slots: set[str]
    is_first: bool
    body: list[ast.stmt]
    sink: ast.Call
    guard: ast.If | None

    def is_read(self, node: ast.AST) -> bool:
        """True for ``x[rows]``, ``x[None, rows]`` and ``w[rows, slots]``."""
        match node:
            case ast.Subscript(slice=ast.Name(id=name), ctx=ast.Load()):
                return name in self.rows
            case ast.Subscript(
                slice=ast.Tuple(elts=[ast.Constant(value=None), ast.Name(id=name)]), ctx=ast.Load()
            ):
                return name in self.rows
        return self.is_weight(node)

    def rank(self, node: ast.AST) -> int | None:
        """The number of dimensions in a row of what is read; None for other nodes.

        Rows of an unknown number of dimensions have one.
        """
        match node:
            case ast.Name(id=name) if name in self.rows | self.slots:
                return 0
            case ast.Subscript(slice=ast.Tuple(elts=elements)) if self.is_weight(node):
                return len(elements) - 2
            case ast.Subscript(value=whole, slice=ast.Name()) if self.is_read(node):
                tensor = certain_tensor(self.site, whole)
                return 1 if tensor is None or tensor.rank is None else max(tensor.rank - 1, 0)
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript() as rows, attr="reshape" | "view"),
                args=[ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)), _],
            ) if self.is_read(rows) and isinstance(rows.slice, ast.Tuple):
                return 1  # `x[None, rows]`, and what is added has as many rows again
        return None

    def is_weight(self, node: ast.AST) -> bool:
        """True for ``w[rows, slots]`` and ``w[rows, slots, None]``."""
        match node:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Name(id=a), ast.Name(id=b), *rest])):
                new = all(isinstance(one, ast.Constant) and one.value is None for one in rest)
                return a in self.rows and b in self.slots and new
        return False


def compute_all_rows(site: Site, call: ast.expr) -> Repair | Decline | None:
    """Rewrite a selection by position; None where it is for something else."""
    selection = _selection(site, call)
    if selection is None:
        return None
    if is_compiled_aside(site, selection.made):
        return Decline("this branch is kept for eager code and for other tensors")
    if not _is_followed(selection):
        return Decline(_SEVERAL)
    verdicts = [*_judge(selection)]
    if selection.guard is not None:
        verdicts.append(Changes(_RUNS.format(site.text(selection.sink.args[1]))))
    verdicts.append(Changes(_COST.format(site.text(selection.mask))))
    verdict = combine([*verdicts, Changes(_SPREADS)])
    return repair_as_proved(verdict, _MESSAGE, tuple(_rewrites(selection)))


def _selection(site: Site, call: ast.expr) -> _Selection | None:
    made = site.parent(call)
    found = selection_in(site, call)
    match made:
        case ast.Assign(targets=[ast.Tuple(elts=[ast.Name(id=one), ast.Name(id=two)])]):
            pass
        case _:
            return None
    if found is None or not found.pairs:
        return None
    if len(site.stores(one)) != 1 or len(site.stores(two)) != 1:
        return None
    block = block_of(site, made)
    body, guard = _unguarded(block[block.index(made) + 1 :], (one, two))
    for place, statement in enumerate(body):
        match statement:
            case ast.Expr(
                value=ast.Call(
                    func=ast.Attribute(attr="index_add_"),
                    args=[ast.Constant(value=0), ast.Name(id=rows), _],
                    keywords=[],
                ) as sink
            ) if rows in (one, two):
                kept = body[: place + 1]
                held, slots = ({*_called(kept, name)} for name in _in_order(rows, one, two))
                return _Selection(
                    site, made, found.mask, held, slots, rows == one, kept, sink, guard
                )
    return None


def _in_order(rows: str, one: str, two: str) -> tuple[str, str]:
    return (one, two) if rows == one else (two, one)


def _called(body: list[ast.stmt], name: str) -> Iterator[str]:
    """A variable, and those that are given its value."""
    yield name
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=known)):
                if known == name:
                    yield other


def _unguarded(
    body: list[ast.stmt], names: tuple[str, str]
) -> tuple[list[ast.stmt], ast.If | None]:
    """The statements without a test whether anything is selected."""
    match body:
        case [ast.If(test=test, body=[ast.Continue()], orelse=[]) as guard, *rest]:
            empty = asks_whether_empty(test, frozenset(names))
            return (rest, guard) if empty is True else (body, None)
        case [ast.If(test=test, body=inner, orelse=[]) as guard, *_]:
            empty = asks_whether_empty(test, frozenset(names))
            return (inner, guard) if empty is False else (body, None)
    return body, None


def _is_followed(selection: _Selection) -> bool:
    """True where all uses of the rows are reads of them, and where they end is the end."""
    site, allowed = selection.site, {id(selection.sink.args[1])}
    for statement in selection.body:
        for part in ast.walk(statement):
            if selection.is_read(part):
                allowed |= {id(name) for name in ast.walk(part) if isinstance(name, ast.Name)}
    if selection.guard is not None:
        allowed |= {id(part) for part in ast.walk(selection.guard.test)}
    allowed |= {
        id(one.value)
        for one in selection.body
        if isinstance(one, ast.Assign) and _is_another_name(selection, one)
    }
    names = [*selection.rows, *selection.slots]
    loads = [load for name in names for load in site.loads(name)]
    once = all(len(site.stores(name)) == 1 for name in names)
    if not once or not all(id(load) in allowed for load in loads):
        return False
    inside = {id(part) for statement in selection.body for part in ast.walk(statement)}
    given = {name for statement in selection.body[:-1] for name in _given(statement)}
    if not all(_is_plain(statement) for statement in selection.body[:-1]):
        return False
    return all(id(load) in inside for name in given for load in site.loads(name))


def _is_another_name(selection: _Selection, statement: ast.stmt) -> bool:
    """True for ``tokens = rows``."""
    names = selection.rows | selection.slots
    match statement:
        case ast.Assign(targets=[ast.Name()], value=ast.Name(id=name)):
            return name in names
    return False


def _is_plain(statement: ast.stmt) -> bool:
    """True for what gives values to local variables, and no more."""
    if not isinstance(statement, ast.Assign):
        return False
    targets = [t for one in statement.targets for t in members_of(one)]
    return all(isinstance(target, ast.Name) for target in targets)


def _given(statement: ast.stmt) -> Iterator[str]:
    for part in ast.walk(statement):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id


def _judge(selection: _Selection) -> Iterator[Verdict]:
    """Judge that each row is computed by itself, and weighted in the end."""
    added = selection.sink.args[2]
    rows = RowByRow(selection.site, selection.rank, flat=True, trusting=True)
    weighted: set[str] = set()
    try:
        for statement in selection.body[:-1]:
            assert isinstance(statement, ast.Assign)
            rows.follow(statement)
            names = {*_given(statement)}
            is_weighted = _is_weighted(selection, statement.value, weighted)
            weighted = weighted | names if is_weighted else weighted - names
        rows.rank(added)
    except RowsMeetError as error:
        yield Refused(str(error))
        return
    yield rows.verdict
    if not _is_weighted(selection, added, weighted):
        yield Refused(_UNWEIGHTED)


def _is_weighted(selection: _Selection, node: ast.expr, weighted: set[str]) -> bool:
    """True for a weight, and for what is multiplied by one."""
    if selection.is_weight(node):
        return True
    match node:
        case ast.Name(id=name):
            return name in weighted
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return any(_is_weighted(selection, side, weighted) for side in (left, right))
        case ast.Call(
            func=ast.Attribute(value=owner, attr="to" | "type" | "contiguous" | "unsqueeze")
        ):
            return _is_weighted(selection, owner, weighted)
    return False


def _rewrites(selection: _Selection) -> Iterator[Rewrite]:
    site = selection.site
    chosen = "chosen"
    while site.body.names(chosen):
        chosen += "_"
    mask = certain_tensor(site, selection.mask)
    cast = "" if mask is not None and is_boolean(mask) else ".bool()"
    turned = "" if selection.is_first else ".T"
    plain = isinstance(selection.mask, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    text = "$mask" if plain or not (cast or turned) else "($mask)"
    line = f"{chosen} = {text}{cast}{turned}"
    yield Replace(selection.made, line, {"mask": selection.mask})
    inside = selection.guard.body if selection.guard is not None else []
    for statement in selection.body:
        if _is_another_name(selection, statement) and statement not in inside:
            yield Replace(statement, "")
        for part in ast.walk(statement):
            if isinstance(part, ast.Subscript) and selection.is_read(part):
                yield Replace(part, _whole(selection, part, chosen), {"whole": part.value})
    owner = selection.sink.func
    assert isinstance(owner, ast.Attribute)
    parts: dict[str, ast.expr | ast.stmt] = {"owner": owner.value, "added": selection.sink.args[2]}
    yield Replace(selection.sink, "$owner.add_($added)", parts)
    if selection.guard is not None:
        yield _opened(selection, selection.guard)


def _opened(selection: _Selection, guard: ast.If) -> Rewrite:
    """Leave out ``if rows.numel() > 0:``: adding nothing changes nothing."""
    if isinstance(guard.body[0], ast.Continue):
        return Replace(guard, "")
    kept = [line for line in guard.body if not _is_another_name(selection, line)]
    lines = {f"line_{i}": line for i, line in enumerate(kept)}
    return Replace(guard, "\n".join(f"${name}" for name in lines), lines)


def _whole(selection: _Selection, read: ast.Subscript, chosen: str) -> str:
    """All rows of what a read selects some of."""
    if not selection.is_weight(read):
        return "$whole[None]" if isinstance(read.slice, ast.Tuple) else "$whole"
    assert isinstance(read.slice, ast.Tuple)
    plain = isinstance(read.value, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    whole = "$whole" if plain else "($whole)"
    new = len(read.slice.elts) - 2
    kept = ", keepdim=True" if new else ""
    end = f"[:{', None' * new}]" if new > 1 else ""
    return f"{whole}.masked_fill(~{chosen}, 0).sum(-1{kept}){end}"
