"""Numbers that follow from how a model is called and built, rather than from its data."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.bounds import Bound
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Static, SymInt, Tensor

from .known import is_parameter
from .scalar_writes import family_of, writes

_KEEPING: Final = frozenset(
    "item tolist int long short bool to cpu detach clone contiguous view reshape flatten squeeze "
    "unsqueeze expand size".split()
)
_CONVERSIONS: Final = frozenset({"int", "bool", "torch.squeeze", "torch.flatten"})
STEPS: Final = Bound(8, "steps to see that a number follows from the call", hides=False)


def follows_from_call(site: Site, node: ast.expr, depth: int = STEPS.most) -> bool:
    """True for what an argument or an attribute holds at a fixed place, and arithmetic with it.

    A position, the sizes of an image, a stride: the same in each call of the same kind. What is
    computed from data varies by its nature: draws, whether any element of a mask is true, how many
    tokens an expert gets.
    """
    kinds = [*options(site.value(node))]
    if any(isinstance(kind, Tensor) and (kind.random or _is_of_floats(kind)) for kind in kinds):
        return False
    if kinds and all(isinstance(kind, (Static, SymInt)) for kind in kinds):
        return True
    if not depth:
        STEPS.cut()
        return False
    return _follows(site, node, depth - 1)


def _follows(site: Site, node: ast.expr, depth: int) -> bool:
    match node:
        case ast.Name(id=name):
            return _is_given(site, name, depth)
        case ast.Attribute(value=ast.Name(id="self"), attr=name):
            return _is_left_alone(site, name)
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
    match [site.parent(store) for store in stores]:
        case [ast.Assign(value=value) | ast.NamedExpr(value=value)]:
            return follows_from_call(site, value, depth)
    return False


def _is_left_alone(site: Site, name: str) -> bool:
    """True for an attribute that no method but ``__init__`` writes, or changes in place."""
    if site.cls is None:
        return False
    methods = (
        method
        for cls in family_of(site.cls)
        for method in cls.body
        if isinstance(method, ast.FunctionDef) and method.name != "__init__"
    )
    return not any(writes(node, name) for method in methods for node in nodes(method))


def _is_of_floats(tensor: Tensor) -> bool:
    """True for what is measured rather than counted."""
    return tensor.dtype is not None and tensor.dtype.category in ("float", "complex")


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
