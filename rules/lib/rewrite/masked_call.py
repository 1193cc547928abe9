"""``a[m], b[m] = f(x[m], w[m, :])``: call the function for all elements, and let the mask choose.

The elements that the mask leaves out get the values of the first one that it selects. So the
function sees only values that it sees today, some of them several times, and what it raises for
some value it raises no more often.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..facts.compiling import is_compiled_aside
from ..facts.known import certain_tensor, is_boolean
from ..facts.shapes import same_shape
from ..judge.aliases import is_own_result
from ..judge.row_by_row import RowByRow, RowsMeetError
from ..judge.same_device import judge_chosen
from ..judge.verdict import Changes, Verdict, combine
from .masked_store import is_whole
from .names import new_variable
from .proved import NO_TORCH, repair_as_proved

_MESSAGE: Final = "Call the function for all elements and store the masked ones"
_ALL: Final = (
    "`{0}` computes all elements, with the values of the first that `{1}` selects for those left "
    "out; where it selects none, those of the very first decide whether it raises; dtypes that do "
    "not fit no longer raise, and last bits may differ"
)
_SAME: Final = "the fix assumes that what else `{}` is given is the same for all elements"
_FITS: Final = "the fix assumes that `{}` has the shape of `{}`"
_ONE_MORE: Final = "the fix assumes one dimension more than `{}` has for {}"
_WRITTEN: Final = (
    "`{}` is written as a whole, which raises if it is expanded, or a leaf that requires grad"
)


@record(frozen=True)
class _Call:
    """A call, the targets that its results are stored to, and its arguments that are selected."""

    call: ast.Call
    mask: ast.Name
    targets: tuple[ast.Name, ...]
    rows: tuple[tuple[ast.Subscript, int], ...]


def call_for_all(site: Site, read: ast.AST) -> Repair | Decline | None:
    """Rewrite the call that a read by a mask is an argument of; None for other reads."""
    found = _call(site.statement)
    if found is None or not any(row is read for row, _ in found.rows):
        return None
    mask = certain_tensor(site, found.mask)
    if mask is None or not is_boolean(mask) or is_compiled_aside(site, site.statement):
        return None
    names = [*found.targets, *(row.value for row, _ in found.rows)]
    if not all(certain_tensor(site, name) is not None for name in names):
        return None
    if any(isinstance(kind, Tensor) for one in _rest(found) for kind in options(site.value(one))):
        return None  # it may hold selected elements as well
    given: dict[ast.AST, int] = dict(found.rows)
    rows = RowByRow(site, given.get, fresh=True)
    try:
        ranks = rows.results(found.call)
    except RowsMeetError as error:
        return Decline(str(error))
    if ranks != (0,) * len(found.targets):
        return None
    spelled = site.spell("torch.where")
    if spelled is None:
        return NO_TORCH
    verdict = combine([*_judge(site, found), rows.verdict])
    return repair_as_proved(verdict, _MESSAGE, (_rewrite(site, found, spelled),))


def _call(statement: ast.stmt) -> _Call | None:
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Call() as call):
            pass
        case ast.Assign(targets=[ast.Subscript() as only], value=ast.Call() as call):
            elements = [only]
        case _:
            return None
    masks: list[ast.Name] = []
    targets: list[ast.Name] = []
    for one in elements:
        match one:
            case ast.Subscript(value=ast.Name() as target, slice=ast.Name() as mask):
                masks.append(mask)
                targets.append(target)
            case _:
                return None
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    starred = any(isinstance(one, ast.Starred) for one in given)
    if starred or len({mask.id for mask in masks}) != 1 or None in [k.arg for k in call.keywords]:
        return None
    rows = tuple(_selected(given, masks[0].id))
    whole = {*targets, *(row.value for row, _ in rows)}
    named = all(isinstance(one, ast.Name) and one.id != masks[0].id for one in whole)
    return _Call(call, masks[0], tuple(targets), rows) if named and rows else None


def _selected(given: list[ast.expr], mask: str) -> Iterator[tuple[ast.Subscript, int]]:
    """``x[m]``, with no dimension in a row, and ``w[m, :]`` with one."""
    for one in given:
        match one:
            case ast.Subscript(slice=ast.Name(id=name)) if name == mask:
                yield one, 0
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Name(id=name), ast.Slice() as rest])):
                if name == mask and is_whole(rest):
                    yield one, 1


def _judge(site: Site, found: _Call) -> Iterator[Verdict]:
    mask = found.mask
    function = site.text(found.call.func)
    yield judge_chosen(site, [mask], [*found.targets, *(row.value for row, _ in found.rows)])
    yield Changes(_ALL.format(function, mask.id))
    if not all(isinstance(one, ast.Constant) for one in _rest(found)):
        yield Changes(_SAME.format(function))
    more = [f"`{site.text(row.value)}`" for row, rank in found.rows if rank]
    if more:
        yield Changes(_ONE_MORE.format(mask.id, ", ".join(more)))
    for row, rank in found.rows:
        if not rank and not same_shape(site, mask, row.value):
            yield Changes(_FITS.format(mask.id, site.text(row.value)))
    for target in found.targets:
        if not same_shape(site, mask, target):
            yield Changes(_FITS.format(mask.id, target.id))
        if not is_own_result(site, target.id):
            yield Changes(_WRITTEN.format(target.id))


def _rest(found: _Call) -> list[ast.expr]:
    """The arguments that no mask selects."""
    given = [*found.call.args, *(keyword.value for keyword in found.call.keywords)]
    return [one for one in given if not _is_row(found, one)]


def _is_row(found: _Call, node: ast.expr) -> bool:
    return any(row is node for row, _ in found.rows)


def _rewrite(site: Site, found: _Call, where: str) -> Replace:
    mask = found.mask.id
    taken: set[str] = set()
    first = new_variable(site, "first", taken)
    names = [new_variable(site, f"{target.id}_of_all", taken) for target in found.targets]
    parts: list[str] = []
    for one in found.call.args:
        parts.append(_argument(site, found, one, where, first))
    for keyword in found.call.keywords:
        parts.append(f"{keyword.arg}={_argument(site, found, keyword.value, where, first)}")
    joined = "".join(f"    {part},\n" for part in parts)
    lines = [
        f"{first} = {mask}.flatten().int().argmax(0, keepdim=True)",
        f"{', '.join(names)} = {site.text(found.call.func)}(\n{joined})",
    ]
    for target, name in zip(found.targets, names, strict=True):
        lines.append(f"{target.id}.copy_({where}({mask}, {name}, {target.id}))")
    return Replace(site.statement, "\n".join(lines))


def _argument(site: Site, found: _Call, node: ast.expr, where: str, first: str) -> str:
    rank = next((rank for row, rank in found.rows if row is node), None)
    if rank is None or not isinstance(node, ast.Subscript):
        return site.text(node)
    name, mask = site.text(node.value), found.mask.id
    if rank:
        return f"{where}({mask}[..., None], {name}, {name}.flatten(0, -2)[{first}])"
    return f"{where}({mask}, {name}, {name}.flatten()[{first}])"
