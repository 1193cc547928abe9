"""Which dimensions of a tensor does a mask cover: all of them, or the first ones?"""

from __future__ import annotations

import ast
from typing import Final

from tclint.records import record
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt

from ..proofs.arguments import certain_tensor
from ..proofs.shapes import same_shape
from ..proofs.uses import is_parameter
from ..proofs.verdict import PROVED, Changes, Verdict

_REDUCTIONS: Final = frozenset("all amax amin any argmax argmin mean prod sum".split())
_NUMBERS: Final = ("bool", "float", "int")
_POINTWISE: Final = frozenset("abs isfinite isinf isnan logical_not sigmoid sqrt square".split())


@record(frozen=True)
class Cover:
    """How many of the last dimensions a mask leaves out, and how far it is proved to fit."""

    left: int
    verdict: Verdict


def cover_of(site: Site, mask: ast.expr, owner: ast.expr) -> Cover | None:
    """How a mask covers a tensor; None where that is not known.

    Where the mask does not fit, indexing by it raises; `torch.where` spreads a single element.
    """
    if same_shape(site, mask, owner):
        return Cover(0, PROVED)
    if _is_row_each(site, mask, owner):
        return Cover(1, PROVED)
    found, tensor = certain_tensor(site, mask), certain_tensor(site, owner)
    if found is None or tensor is None or not found.rank or tensor.rank is None:
        return None
    left = tensor.rank - found.rank
    what = (
        f"where `{site.text(mask)}` does not fit `{site.text(owner)}`, the error is another, and "
        "a single element counts for all"
    )
    return Cover(left, Changes(what)) if left >= 0 else None


def _is_row_each(site: Site, node: ast.expr, owner: ast.expr) -> bool:
    """True for what is computed from ``x[..., 0]`` or ``x.sum(-1)``, for each row of its own."""
    match node:
        case ast.Name(id=name):
            stores = site.stores(name)
            made = site.parent(stores[0]) if len(stores) == 1 else None
            alone = not is_parameter(site, name) and not site.facts.loops
            plain = isinstance(made, ast.Assign) and made.targets == stores and alone
            return plain and isinstance(made, ast.Assign) and _is_row_each(site, made.value, owner)
        case ast.Compare(left=left, comparators=[right]) | ast.BinOp(left=left, right=right):
            parts = [side for side in (left, right) if not _is_number(site, side)]
            return bool(parts) and all(_is_row_each(site, part, owner) for part in parts)
        case ast.UnaryOp(op=ast.USub() | ast.Invert(), operand=inner):
            return _is_row_each(site, inner, owner)
        case ast.Subscript(value=whole, slice=ast.Tuple(elts=[ast.Constant(value=first), last])):
            return first is ... and _is_place(last) and _is_same(site, whole, owner)
        case ast.Call(func=ast.Attribute(value=whole, attr=name), args=[], keywords=[]):
            return name in _POINTWISE and _is_row_each(site, whole, owner)
        case ast.Call(func=ast.Attribute(value=whole, attr=name), args=[last], keywords=[]) | (
            ast.Call(
                func=ast.Attribute(value=whole, attr=name),
                args=[],
                keywords=[ast.keyword(arg="dim", value=last)],
            )
        ):
            tensor = certain_tensor(site, owner)
            is_last = name in _REDUCTIONS and ast.unparse(last) == "-1"
            ranked = tensor is not None and bool(tensor.rank)
            return is_last and ranked and _is_same(site, whole, owner)
    return False


def _is_same(site: Site, whole: ast.expr, owner: ast.expr) -> bool:
    """True for a tensor of the same shape, whose variable has been bound once only."""
    names = [part for part in ast.walk(whole) if isinstance(part, ast.Name)]
    once = all(len(site.stores(name.id)) <= 1 for name in names)
    return once and same_shape(site, whole, owner)


def _is_place(node: ast.expr) -> bool:
    number = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(number, ast.Constant) and type(number.value) is int


def _is_number(site: Site, node: ast.expr) -> bool:
    return all(
        isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in _NUMBERS)
        for kind in options(site.value(node))
    )
