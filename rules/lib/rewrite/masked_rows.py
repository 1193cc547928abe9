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
from tclint.semantics.lattice import options
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt

from ..facts.compiling import is_compiled_aside
from ..facts.known import certain_tensor, is_boolean, is_parameter
from ..facts.reaching import block_of
from ..judge.aliases import is_own_result
from ..judge.row_by_row import judge_rows
from ..judge.verdict import Changes, Verdict, combine
from .proved import repair_as_proved

_MESSAGE: Final = "Compute all rows and store the masked ones"
_ALL: Final = (
    "all rows are computed, not only those that `{}` selects: it takes longer where they are few, "
    "infinity or NaN in another one makes gradients NaN, dtypes that do not fit no longer raise, "
    "and last bits may differ"
)
_FITS: Final = "the fix assumes that `{}` fits the first dimensions of `{}` and `{}`"
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
    values = [*(step.value for step in rows.steps), rows.store.value]
    if not all(_is_alone(site, rows, value) for value in values):
        return None
    verdicts: list[Verdict] = [judge_rows(site, value, rows.is_row) for value in values]
    texts = [site.text(one) for one in (rows.read.slice, rows.read.value, rows.target.value)]
    verdicts += [Changes(_ALL.format(texts[0])), Changes(_FITS.format(*texts))]
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


def _is_alone(site: Site, rows: _Rows, node: ast.expr) -> bool:
    """True where rows meet nothing but numbers: another tensor may hold selected rows as well."""
    for part in ast.walk(node):
        sides: list[ast.expr] = []
        match part:
            case ast.BinOp(left=left, right=right):
                sides = [left, right]
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
            case ast.Call():
                sides = [*part.args, *(keyword.value for keyword in part.keywords)]
        for side in sides:
            own = any(rows.is_row(inner) for inner in ast.walk(side))
            if not own and not _is_plain(site, side):
                return False
    return True


def _is_plain(site: Site, node: ast.expr) -> bool:
    """True for a number of Python, a text or None."""
    if isinstance(node, ast.UnaryOp):
        return _is_plain(site, node.operand)
    kinds = [*options(site.value(node))]
    return isinstance(node, ast.Constant) or all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type is not None)
        for kind in kinds
    )


def _spread(mask: str, target: str, fewer: int | None, more: int | None) -> str:
    """The mask with a dimension of one element for each that it leaves out."""
    if fewer is not None and more is not None:
        return f"{mask}[..., {', '.join(['None'] * (more - fewer))}]" if more > fewer else mask
    return f"{mask}.reshape({mask}.shape + (1,) * ({target}.dim() - {mask}.dim()))"
