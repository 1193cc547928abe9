"""What the analysis is sure of at sight: a tensor, a number, a parameter of the function."""

from __future__ import annotations

import ast

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static, Tensor


def certain_tensor(site: Site, node: ast.expr) -> Tensor | None:
    """The tensor that a node certainly is; a value that may be None does not count."""
    found = list(options(site.value(node)))
    return found[0] if len(found) == 1 and isinstance(found[0], Tensor) else None


def is_boolean(tensor: Tensor) -> bool:
    """True for a tensor that certainly holds booleans: some operators refuse those."""
    return tensor.dtype is not None and tensor.dtype.category == "bool"


def constant(site: Site, node: ast.expr) -> int | float | None:
    """The number that an expression always is, if the program says so."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = constant(site, node.operand)
        return None if inner is None else -inner
    value: object = node.value if isinstance(node, ast.Constant) else None
    if value is None:
        found = list(options(site.value(node)))
        if len(found) == 1 and isinstance(found[0], Static) and found[0].known:
            value = found[0].value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value


def is_parameter(site: Site, name: str) -> bool:
    """True for an argument of the function, which has a value before it is assigned."""
    return any(isinstance(one.node, ast.arg) for one in site.flow.made(name))
