"""Numbers that follow from how a model is called and built, rather than from its data."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, SymInt, Tensor

from .known import is_parameter

_KEEPING: Final = frozenset(
    "item tolist int long short bool to cpu detach clone contiguous view reshape flatten squeeze "
    "unsqueeze expand size".split()
)
_CONVERSIONS: Final = frozenset({"int", "bool", "torch.squeeze", "torch.flatten"})
_DEEPEST: Final = 8


def follows_from_call(site: Site, node: ast.expr, depth: int = _DEEPEST) -> bool:
    """True for what an argument or an attribute holds at a fixed place, and arithmetic with it.

    A position, the sizes of an image, a stride: the same in each call of the same kind. What is
    computed from data varies by its nature: draws, whether any element of a mask is true, how many
    tokens an expert gets.
    """
    kinds = [*options(site.value(node))]
    if any(isinstance(kind, Tensor) and kind.random for kind in kinds):
        return False
    if kinds and all(isinstance(kind, (Static, SymInt)) for kind in kinds):
        return True
    return depth > 0 and _follows(site, node, depth - 1)


def _follows(site: Site, node: ast.expr, depth: int) -> bool:
    match node:
        case ast.Name(id=name):
            return _is_given(site, name, depth)
        case ast.Attribute(value=owner):
            return isinstance(owner, ast.Name) or follows_from_call(site, owner, depth)
        case ast.Subscript(value=owner, slice=index):
            return follows_from_call(site, owner, depth) and _is_fixed(site, index)
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _KEEPING:
            return follows_from_call(site, owner, depth) and all(_is_fixed(site, a) for a in args)
        case ast.Call(func=function, args=[inner, *_]) if site.dotted(function) in _CONVERSIONS:
            return follows_from_call(site, inner, depth)
        case ast.NamedExpr(value=inner) | ast.UnaryOp(operand=inner):
            return follows_from_call(site, inner, depth)
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.Compare(left=left, comparators=others):
            parts = [left, *others]
        case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts):
            pass
        case _:
            return False
    return all(follows_from_call(site, part, depth) for part in parts)


def _is_given(site: Site, name: str, depth: int) -> bool:
    """True for an argument that follows from the call, and for a variable bound once to such."""
    stores = site.stores(name)
    if is_parameter(site, name):
        passed = site.given(name)
        return not stores and all(follows_from_call(at, one, depth) for at, one in passed)
    bindings = [site.parent(store) for store in stores]
    return bool(bindings) and all(
        isinstance(one, (ast.Assign, ast.NamedExpr))
        and not isinstance(one.value, ast.Starred)
        and follows_from_call(site, one.value, depth)
        for one in bindings
    )


def _is_fixed(site: Site, index: ast.expr) -> bool:
    """True for an index or an argument that Python knows while tracing."""
    match index:
        case ast.Slice(lower=lower, upper=upper, step=step):
            return all(one is None or _is_fixed(site, one) for one in (lower, upper, step))
        case ast.Tuple(elts=members):
            return all(_is_fixed(site, member) for member in members)
        case ast.Attribute():
            return not any(isinstance(kind, Tensor) for kind in options(site.value(index)))
    kinds = [*options(site.value(index))]
    return bool(kinds) and all(isinstance(kind, (Static, SymInt)) for kind in kinds)
