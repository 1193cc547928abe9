"""Ways that compute element by element: with the same tensors they give the same shape."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor
from tclint.torch_facts.pointwise import computes_floats
from tclint.torch_facts.table import canonical

from ..facts.known import certain_tensor, is_boolean
from ..facts.purity import is_pure
from .verdict import PROVED, Changes, Verdict, combine

_OPERATORS: Final = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_LINEAR: Final = (ast.Add, ast.Sub)
_STEEP: Final = Changes("the gradient of a branch may be NaN even where it is not chosen")
_SAME_DTYPE: Final = Changes("the fix assumes that the branches give the same dtype")
_SAME_SHAPE: Final = "the fix assumes that `{}` and `{}` have the same shape"


def judge_pair(site: Site, one: ast.expr, other: ast.expr) -> Verdict | None:
    """Judge that both ways may be computed, and one of them chosen element by element.

    None for ways that do not compute with the same tensors, or in another manner.

    Tensors that broadcast in one order do in any: two ways with the same tensors have one shape,
    and raise together.
    """
    tensors = [_tensors(site, way) for way in (one, other)]
    if not all(tensors):
        return None
    first, second = tensors
    verdicts = [verdict for way in (one, other) for verdict in _gradients(site, way)]
    if first.keys() != second.keys():
        if not (first.keys() <= second.keys() or second.keys() <= first.keys()):
            return None
        if _rank(site, one) != _rank(site, other):
            return None
        verdicts.append(Changes(_SAME_SHAPE.format(site.text(one), site.text(other))))
    if not all(_is_float(site, tensor) for tensor in {**first, **second}.values()):
        verdicts.append(_SAME_DTYPE)
    return combine(verdicts)


def _tensors(site: Site, node: ast.expr) -> dict[str, ast.expr]:
    """The tensors that a way computes with, by how they are written; none where it does more."""
    found: dict[str, ast.expr] = {}
    for leaf in _leaves(site, node):
        tensor = None if leaf is None else certain_tensor(site, leaf)
        if leaf is None or tensor is None or is_boolean(tensor):
            return {}
        found[ast.dump(leaf)] = leaf
    return found


def _leaves(site: Site, node: ast.expr) -> Iterator[ast.expr | None]:
    """The tensors that are computed with, one by one; None for what is not followed."""
    operands = _operands(site, node)
    if operands is None:
        yield node if _is_leaf(site, node) else None
        return
    tensors = [operand for operand in operands if not _is_number(site, operand)]
    if not tensors:
        yield None  # a division of numbers may raise
    for operand in tensors:
        yield from _leaves(site, operand)


def _operands(site: Site, node: ast.expr) -> list[ast.expr] | None:
    """What an operation computes with, element by element; None for any other expression."""
    match node:
        case ast.BinOp(op=ast.Div(), right=ast.Constant(value=0)):
            return None
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            return [left, right]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return [operand]
        case ast.Call(func=ast.Attribute(value=owner, attr=name) as function, args=given):
            dotted = canonical(site.dotted(function) or "")
            key, operands = name, [owner, *given]
            if dotted.startswith("torch."):
                key, operands = dotted, given
            bounds = [keyword.value for keyword in node.keywords if keyword.arg in ("min", "max")]
            operands = [*operands, *bounds]
            form = "".join("n" if _is_number(site, one) else "t" for one in operands)
            if len(bounds) == len(node.keywords) and computes_floats(key, form):
                return operands
    return None


def _is_leaf(site: Site, node: ast.expr) -> bool:
    """A variable, an attribute, or what is read of them without being selected by data."""
    match node:
        case ast.Name():
            return True
        case ast.Attribute(value=owner):
            return is_pure(site, node) and _is_leaf(site, owner)
        case ast.Subscript(value=owner, slice=index):
            members = index.elts if isinstance(index, ast.Tuple) else [index]
            return _is_leaf(site, owner) and all(_is_place(site, one) for one in members)
        case ast.Call(func=ast.Attribute(value=owner, attr="unsqueeze"), args=[given]):
            return _is_leaf(site, owner) and _is_number(site, given)
    return False


def _is_place(site: Site, member: ast.expr) -> bool:
    """True for ``:`` and None in an index: what is there whatever the sizes are."""
    if isinstance(member, ast.Slice):
        return not (member.lower or member.upper or member.step)
    return isinstance(member, ast.Constant) and member.value in (None, ...)


def _is_number(site: Site, node: ast.expr) -> bool:
    """True for a number of Python that raises nothing; a complex one changes the dtype."""
    raising = any(
        isinstance(part, (ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)) for part in ast.walk(node)
    )
    return (
        not raising
        and is_pure(site, node)
        and all(
            isinstance(kind, SymInt) or (isinstance(kind, Static) and kind.type in ("int", "float"))
            for kind in options(site.value(node))
        )
    )


def _is_float(site: Site, node: ast.expr) -> bool:
    tensor = certain_tensor(site, node)
    return tensor is not None and tensor.dtype is not None and tensor.dtype.category == "float"


def _rank(site: Site, node: ast.expr) -> int | None:
    kinds = [kind for kind in options(site.value(node)) if isinstance(kind, Tensor)]
    return kinds[0].rank if len(kinds) == 1 else None


def _gradients(site: Site, way: ast.expr) -> Iterator[Verdict]:
    """Sums and differences give back the gradient that comes; others multiply it by something."""
    linear = all(
        isinstance(part.op, _LINEAR) for part in ast.walk(way) if isinstance(part, ast.BinOp)
    )
    calls = any(isinstance(part, ast.Call) for part in ast.walk(way))
    yield PROVED if linear and not calls else _STEEP
