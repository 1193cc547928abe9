"""Which numbers are certainly integers, and certainly not negative?"""

from __future__ import annotations

import ast

from tclint.semantics.lattice import is_number
from tclint.semantics.site import Site
from tclint.semantics.values import Static, Tensor, Value

from .known import is_parameter

_COUNTS = frozenset(("numel", "dim", "size", "nelement", "ndimension"))


def is_integer(site: Site, node: ast.expr) -> bool:
    """True when the expression certainly is a Python int (or a size)."""
    counts = isinstance(node, ast.Call) and site.dotted(node.func) == "len"
    return counts or is_number(site.value(node), "int")


def is_surely_integer(site: Site, node: ast.expr) -> bool:
    """True when no caller can make it anything else: a default alone declares nothing."""
    return is_integer(site, node) and not _may_be_given(site, node, set())


def _may_be_given(site: Site, node: ast.AST, seen: set[str]) -> bool:
    """True where a parameter without annotation is computed with.

    What an attribute, a size or a call gives is as sure as the analysis says.
    """
    if isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        return False
    if not isinstance(node, ast.Name):
        return any(_may_be_given(site, part, seen) for part in ast.iter_child_nodes(node))
    if node.id in seen:
        return False
    seen.add(node.id)
    if is_parameter(site, node.id):
        return not _is_annotated(site, node.id)
    bindings = [site.parent(store) for store in site.stores(node.id)]
    values = [getattr(one, "value", None) or getattr(one, "iter", None) for one in bindings]
    return any(value is not None and _may_be_given(site, value, seen) for value in values)


def _is_annotated(site: Site, name: str) -> bool:
    return any(one.annotation is not None for one in site.body.arguments(name))


def least(site: Site, node: ast.expr) -> int | None:
    """A lower bound of an integer expression, None when none is known."""
    match node:
        case ast.Constant(value=int(number)):
            return int(number)
        case ast.BinOp(left=left, op=ast.Add() | ast.Mult() | ast.FloorDiv() as op, right=right):
            return _combined(op, least(site, left), least(site, right))
        case ast.Call(func=ast.Name()) if site.dotted(node.func) == "len":
            return 0
        case ast.Call(func=ast.Attribute(value=owner, attr=name)) if name in _COUNTS:
            return 0 if isinstance(site.value(owner), Tensor) else None
        case ast.Subscript(value=ast.Attribute(value=owner, attr="shape"), slice=index):
            sized = isinstance(site.value(owner), Tensor) and not isinstance(index, ast.Slice)
            return 0 if sized else None
        case ast.Name():
            return _of_variable(site, node)
    return _known_int(site.value(node))


def _known_int(value: Value) -> int | None:
    known = isinstance(value, Static) and value.known and type(value.value) is int
    return int(value.value) if isinstance(value, Static) and known else None


def _combined(op: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    if isinstance(op, ast.Add):
        return left + right
    if left < 0 or right < 0:
        return None
    return left * right if isinstance(op, ast.Mult) else (0 if right > 0 else None)


def _of_variable(site: Site, name: ast.Name) -> int | None:
    known = _known_int(site.value(name))
    if known is not None:
        return known
    found = site.flow.definition(name)
    value = site.flow.value(name)
    if value is not None:
        return least(site, value)
    unpacked = found.node.value if found and isinstance(found.node, ast.Assign) else None
    return 0 if unpacked is not None and _is_shape(site, unpacked) else None


def _is_shape(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "shape" and isinstance(site.value(node.value), Tensor)
    function = node.func if isinstance(node, ast.Call) and not node.args else None
    if not isinstance(function, ast.Attribute) or function.attr != "size":
        return False
    return isinstance(site.value(function.value), Tensor)
