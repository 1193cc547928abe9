"""Where a tensor comes from: into the graph from outside, or made in it."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.values import Tensor


def is_made_here(
    site: Site, node: ast.expr, tensor: Tensor, seen: set[ast.expr] | None = None
) -> bool:
    """True for the result of an operation of this function, or of one that calls it with that.

    False for inputs and parameters.
    """
    if tensor.role is not None or isinstance(node, ast.Attribute):
        return False
    if not isinstance(node, ast.Name):
        return True
    made = [one for one in site.flow.definitions(node) if not isinstance(one.node, ast.arg)]
    seen = set() if seen is None else seen
    if not made and node not in seen:
        seen.add(node)
        given_there = site.given(node.id)
        return any(is_made_here(caller, given, tensor, seen) for caller, given in given_there)
    return any(one.value and not isinstance(one.value, (ast.Name, ast.Attribute)) for one in made)


def is_input(site: Site, node: ast.expr | None) -> bool:
    """True for a parameter of the compiled function itself that is never bound anew."""
    made = [] if node is None else site.flow.definitions(node)
    return len(site.chain) == len(made) == 1 and isinstance(made[0].node, ast.arg)
