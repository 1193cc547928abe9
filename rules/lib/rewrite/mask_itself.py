"""What `torch.where(mask)` and `mask.nonzero()` are asked, or store, the mask itself tells."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt

from ..facts.known import certain_tensor
from ..facts.purity import is_pure
from ..facts.selections import Selection, asked_empty, selection_in
from ..facts.shapes import same_dtype
from ..judge.no_rows import is_certain_mask
from ..judge.verdict import PROVED, Changes, Verdict, combine
from .masked_store import cover_of
from .proved import repair_as_proved

_STORE: Final = "Store by the mask itself"
_ASK: Final = "Ask the mask itself whether anything is selected"
_RAISES: Final = "a value of another dtype, in a tensor of one element, no longer raises"
_NUMBERS: Final = ("bool", "float", "int")


def store_by_mask(site: Site, call: ast.expr) -> Repair | Decline | None:
    """``x[torch.where(m)] = v`` is ``x[m] = v``; None where the places are for something else."""
    selection, statement = selection_in(site, call), site.statement
    target, value = _stored(statement)
    if selection is None or not selection.pairs or target is None or value is None:
        return None
    text = ast.dump(call)
    reads = [
        part
        for part in ast.walk(statement)
        if isinstance(part, ast.Subscript) and ast.dump(part.slice) == text
    ]
    if target not in reads or not any(part.slice is call for part in reads):
        return None
    mask = certain_tensor(site, selection.mask)
    cover = cover_of(site, selection.mask, target.value)
    if cover is None or mask is None or not is_certain_mask(site, selection.mask):
        return None
    if mask.rank == 0 or not is_pure(site, selection.mask):
        return None
    verdicts = [cover.verdict, *_judge_value(site, target, value, reads)]
    if mask.rank is None:
        verdicts.append(Changes("a mask without dimensions no longer raises"))
    rewrites = [_by_mask(site, part.slice) for part in reads]
    return repair_as_proved(combine(verdicts), _STORE, tuple(rewrites))


def _stored(statement: ast.stmt) -> tuple[ast.Subscript | None, ast.expr | None]:
    match statement:
        case ast.Assign(targets=[ast.Subscript() as target], value=value):
            return target, value
        case ast.AugAssign(target=ast.Subscript() as target, value=value):
            return target, value
    return None, None


def _by_mask(site: Site, places: ast.expr) -> Replace:
    selection = selection_in(site, places)
    assert selection is not None
    return Replace(places, "$mask", {"mask": selection.mask})


def _judge_value(
    site: Site, target: ast.Subscript, value: ast.expr, reads: list[ast.Subscript]
) -> Iterator[Verdict]:
    """Judge the other reads, and that what is stored has the dtype, or is a number of Python."""
    for read in reads:
        if read is not target:
            selection = selection_in(site, read.slice)
            cover = cover_of(site, selection.mask, read.value) if selection else None
            yield cover.verdict if cover else Changes("the mask may not fit what is read by it")
    plain = all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in _NUMBERS)
        for kind in options(site.value(value))
    )
    fits = plain or isinstance(site.statement, ast.AugAssign)
    whole = next((read.value for read in reads if read is value), value)
    yield PROVED if fits or same_dtype(site, target.value, whole) else Changes(_RAISES)


def ask_mask(site: Site, call: ast.expr) -> Repair | None:
    """``if len(m.nonzero()) > 0`` is ``if m.any()``; None where more is asked."""
    selection = selection_in(site, call)
    if selection is None:
        return None
    test = _test_of(site, selection)
    tensor = certain_tensor(site, selection.mask)
    if test is None or tensor is None or not _is_decided_on(site, test):
        return None
    found = asked_empty(test)
    if found is None or found[0] is not _counted(site, selection):
        return None
    elements = ".numel" in ast.unparse(test) or ".nelement" in ast.unparse(test)
    if elements and not selection.pairs and not tensor.rank:
        return None  # the rows of a tensor without dimensions have no elements
    template = "not $mask.any()" if found[1] else "$mask.any()"
    return Repair(_ASK, (Replace(test, template, {"mask": selection.mask}),))


def _counted(site: Site, selection: Selection) -> ast.expr | None:
    """The rows, or the first of the tensors with the places along each dimension."""
    if not selection.pairs:
        return selection.call
    match site.parent(selection.call):
        case ast.Subscript(value=call, slice=ast.Constant(value=int())) as first:
            return first if call is selection.call else None
    return None


def _test_of(site: Site, selection: Selection) -> ast.expr | None:
    """The largest test that asks for the number of rows, and only for that."""
    counted: ast.expr | None = _counted(site, selection)
    test: ast.expr | None = None
    for outer in site.ancestors(counted) if counted is not None else ():
        if not isinstance(outer, ast.expr):
            break
        found = asked_empty(outer)
        if found is not None and found[0] is counted:
            test = outer
    return test


def _is_decided_on(site: Site, test: ast.expr) -> bool:
    """True where Python only asks whether the test is true."""
    inner: ast.AST = test
    for outer in site.ancestors(test):
        if isinstance(outer, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return outer.test is inner
        if not isinstance(outer, ast.BoolOp) and not (
            isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.Not)
        ):
            return False
        inner = outer
    return False
