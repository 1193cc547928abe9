"""``rows = x[m]``, ``rows = f(rows)``, ``y[m] = rows``: compute all rows, store the masked ones.

What ``masked_store`` does with one statement, over several: each variable between the read and the
store holds rows, and is used for nothing else.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.lint.rewrite import Repair, Replace, Rewrite
from tclint.records import record
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from ..facts.compiling import is_compiled_aside
from ..facts.known import certain_tensor, is_boolean, is_parameter
from ..facts.reaching import block_of
from ..judge.aliases import is_own_result
from ..judge.row_by_row import RowByRow, RowsMeetError
from ..judge.same_device import judge_chosen
from ..judge.verdict import Changes, Verdict, combine
from .proved import repair_as_proved

_MESSAGE: Final = "Compute all rows and store the masked ones"
_ALL: Final = (
    "all rows are computed, not only those that `{}` selects: it takes longer where they are few, "
    "infinity or NaN in another one, or computed from it, makes gradients NaN, dtypes that do not "
    "fit no longer raise, and last bits may differ"
)
_FITS: Final = "the fix assumes that `{}` fits the first dimensions of `{}` and `{}`"
_SAVED: Final = "autograd saves `{}`: writing to it in place makes the backward pass raise"
_LEAVES_OUT: Final = "the fix assumes that `{}` leaves out the last dimension of `{}`"
_WRITTEN: Final = (
    "`{}` is written as a whole, which raises if it is expanded, or a leaf that requires grad"
)


@record(frozen=True)
class _Rows:
    """The read, the statements that compute with the rows, and the store."""

    read: ast.Subscript
    steps: Sequence[ast.Assign]
    store: ast.Assign
    target: ast.Subscript
    names: frozenset[str]

    def is_row(self, node: ast.AST) -> bool:
        """True for the read, and for a variable that holds rows."""
        return node is self.read or (isinstance(node, ast.Name) and node.id in self.names)


def store_rows_later(site: Site, read: ast.AST) -> Repair | None:
    """Rewrite a read whose rows end in a store by the same mask; None for other reads."""
    rows = _rows(site, read)
    if rows is None or is_compiled_aside(site, site.statement):
        return None
    spelled, mask = site.spell("torch.where"), certain_tensor(site, rows.read.slice)
    data, target = certain_tensor(site, rows.read.value), certain_tensor(site, rows.target.value)
    if spelled is None or mask is None or not is_boolean(mask) or data is None or target is None:
        return None
    alone = _judge_rows(site, rows, _rank(mask, data), _rank(mask, target))
    if alone is None:
        return None
    texts = [site.text(one) for one in (rows.read.slice, rows.read.value, rows.target.value)]
    changes = [_ALL.format(texts[0]), _FITS.format(*texts), _SAVED.format(texts[1])]
    here = judge_chosen(site, [rows.read.slice], [rows.target.value])
    verdicts: list[Verdict] = [alone, here, *map(Changes, changes)]
    if not is_own_result(site, texts[2]):
        verdicts.append(Changes(_WRITTEN.format(texts[2])))
    spread = _spread(texts[0], texts[2], mask.rank, target.rank)
    line = f"{texts[2]}.copy_({spelled}({spread}, $rows, {texts[2]}))"
    rewrites: tuple[Rewrite, ...] = (
        Replace(rows.read, "$data", {"data": rows.read.value}),
        Replace(rows.store, line, {"rows": rows.store.value}),
    )
    repair = repair_as_proved(combine(verdicts), _MESSAGE, rewrites)
    return repair if isinstance(repair, Repair) else None


def _rows(site: Site, read: ast.AST) -> _Rows | None:
    """Follow the rows statement by statement to where they are stored."""
    statement = site.statement
    match read, statement:
        case (
            ast.Subscript(value=ast.Name(id=data), slice=ast.Name(id=mask)),
            ast.Assign(targets=[ast.Name(id=first)]),
        ):
            pass
        case _:
            return None
    assert isinstance(read, ast.Subscript)
    if not isinstance(statement, ast.Assign):
        return None
    names, steps = {first}, [statement]
    block = block_of(site, statement)
    for later in block[block.index(statement) + 1 :]:
        match later:
            case ast.Assign(targets=[ast.Subscript() as target]):
                found = _Rows(read, steps, later, target, frozenset(names))
                return found if _ends(site, found, mask, data) else None
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in (mask, data):
                names.add(name)
                steps.append(later)
            case _:
                return None
    return None


def _ends(site: Site, rows: _Rows, mask: str, data: str) -> bool:
    """True where the store is by the same mask, of rows, and nothing else sees the rows."""
    match rows.target:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=stored)):
            if stored != mask or name in (mask, data) or name in rows.names:
                return False
        case _:
            return False
    if not any(rows.is_row(part) for part in ast.walk(rows.store.value)):
        return False
    inside = {id(part) for one in (*rows.steps, rows.store) for part in ast.walk(one)}
    for name in rows.names:
        if is_parameter(site, name) or site.body.is_declared(name) or site.body.defines(name):
            return False
        if any(is_nested(site, one) or id(one) not in inside for one in site.body.names(name)):
            return False
    return all(_holds_rows(rows, step) for step in rows.steps)


def _holds_rows(rows: _Rows, step: ast.Assign) -> bool:
    return any(rows.is_row(part) for part in ast.walk(step.value))


def _rank(mask: Tensor, owner: Tensor) -> int | None:
    """The number of dimensions that the mask leaves out."""
    if mask.rank is None or owner.rank is None:
        return None
    return max(owner.rank - mask.rank, 0)


def _judge_rows(site: Site, rows: _Rows, given: int | None, stored: int | None) -> Verdict | None:
    """Judge that each row is computed by itself; None where it may not be.

    Where it is not known which dimensions the mask leaves out, it may be none, or the last one.
    """
    for rank in [given] if given is not None else [0, 1]:
        steps = RowByRow(site, {rows.read: rank}.get)
        try:
            for step in rows.steps:
                steps.follow(step)
            steps.fits(rows.store.value, rank if stored is None else stored)
        except RowsMeetError:
            continue
        texts = site.text(rows.read.slice), site.text(rows.read.value)
        assumed = [Changes(_LEAVES_OUT.format(*texts))] if given is None and rank else []
        return combine([steps.verdict, *assumed])
    return None


def _spread(mask: str, target: str, fewer: int | None, more: int | None) -> str:
    """The mask with a dimension of one element for each that it leaves out."""
    if fewer is not None and more is not None:
        return f"{mask}[..., {', '.join(['None'] * (more - fewer))}]" if more > fewer else mask
    return f"{mask}.reshape({mask}.shape + (1,) * ({target}.dim() - {mask}.dim()))"
