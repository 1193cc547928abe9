"""Which tensors certainly have the same shape, by how they were made?"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.flow import Definition
from tclint.semantics.interpreter.reshaping import CONTENT
from tclint.semantics.lattice import all_are, options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor, Value
from tclint.torch_facts.elements import RESHAPING_IN_PLACE
from tclint.torch_facts.pointwise import is_pointwise
from tclint.torch_facts.table import canonical

from .known import certain_tensor

_LIKE: Final = frozenset(
    "zeros_like ones_like empty_like full_like rand_like randn_like clone detach contiguous".split()
)
_CONVERTS: Final = frozenset({"to", "type"})
_OF_NO_SHAPE: Final = ("dtype", "device", "layout", "memory_format", "pin_memory", "requires_grad")
_ELEMENTWISE: Final = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr,
    ast.BitXor,
)  # fmt: skip
_Root = Definition | str | None


def same_shape(site: Site, *tensors: ast.expr) -> bool:
    """True when all of these, in one statement, have one shape, whatever it is."""
    roots = {_root(site, tensor, like_dtype=False) for tensor in tensors}
    return len(roots) == 1 and None not in roots


def same_dtype(site: Site, *tensors: ast.expr) -> bool:
    """True when all of these, in one statement, have one element type."""
    roots = {_root(site, tensor, like_dtype=True) for tensor in tensors}
    return len(roots) == 1 and None not in roots


def _root(site: Site, node: ast.expr, *, like_dtype: bool, inside: bool = False) -> _Root:
    """The variable that a tensor takes its shape, or its element type, from."""
    match node:
        case ast.Name():
            return _root_of_variable(site, node, like_dtype=like_dtype, inside=inside)
        case ast.Call(func=ast.Attribute(value=owner, attr=attr), args=arguments):
            dotted = canonical(site.dotted(node.func) or "")
            if dotted.startswith("torch."):
                owner, arguments = (arguments[0], arguments[1:]) if arguments else (owner, [])
            if attr in _CONVERTS and not like_dtype:
                return _root(site, owner, like_dtype=False, inside=True)
            plain_keywords = () if like_dtype else _OF_NO_SHAPE
            keywords = [k.value for k in node.keywords if k.arg not in plain_keywords]
            given = [*arguments, *keywords]
            key = dotted if dotted.startswith("torch.") else attr
            each = not like_dtype and is_pointwise(key, "t" + "n" * len(given))
            kinds = [site.value(part) for part in given]
            plain = (each or attr in _LIKE) and all(all_are(k, Static, SymInt) for k in kinds)
            return _root(site, owner, like_dtype=like_dtype, inside=True) if plain else None
    parts = [] if like_dtype else _operands(site, node)
    tensors = [part for part in parts if not all_are(site.value(part), Static, SymInt)]
    tensors = [part for part in tensors if not _is_single(site, part)] or tensors
    roots = {_root(site, part, like_dtype=like_dtype, inside=True) for part in tensors}
    return roots.pop() if len(roots) == 1 else None


def _is_single(site: Site, node: ast.expr) -> bool:
    """True for a tensor without dimensions, which takes the shape of what it is computed with."""
    tensor = certain_tensor(site, node)
    return tensor is not None and tensor.rank == 0


def _operands(site: Site, node: ast.expr) -> list[ast.expr]:
    """What an operator computes with, element by element."""
    match node:
        case ast.Compare(left=left, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
            return [left, *node.comparators]
        case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq()], comparators=[right]):
            # A tensor is unequal to None and to texts at once, without a look at its elements.
            plain = all(_may_be_compared(kind) for kind in options(site.value(right)))
            return [left, right] if plain else []
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ELEMENTWISE):
            return [left, right]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() | ast.Invert(), operand=operand):
            return [operand]
    return []


def _root_of_variable(site: Site, node: ast.Name, *, like_dtype: bool, inside: bool) -> _Root:
    """A variable's root is what it was bound to; it is its own where nothing more is known.

    Within one statement it is one tensor in any case; what was computed before, ``inside``, may
    have seen another one.
    """
    if any(
        getattr(site.parent(load), "attr", "") in RESHAPING_IN_PLACE | CONTENT
        for load in site.loads(node.id)
    ):
        return None
    found = site.flow.definition(node)
    if found is None:  # another round of a loop may see another one
        return None if site.facts.loops or (inside and site.stores(node.id)) else node.id
    if found.value is None:
        return found
    return _root(site, found.value, like_dtype=like_dtype, inside=True) or found


def _may_be_compared(value: Value) -> bool:
    return isinstance(value, (Tensor, SymInt)) or (
        isinstance(value, Static) and value.type in ("int", "float", "bool")
    )
