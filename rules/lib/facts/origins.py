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
    bindings = [site.parent(target) for target in site.stores(node.id)]
    seen = set() if seen is None else seen
    if not bindings and node not in seen:
        seen.add(node)
        given_there = site.given(node.id)
        return any(is_made_here(caller, given, tensor, seen) for caller, given in given_there)
    return any(isinstance(b, ast.Assign) and not _is_alias(b.value) for b in bindings)


def _is_alias(value: ast.expr) -> bool:
    return isinstance(value, (ast.Name, ast.Attribute))


def is_input(site: Site, node: ast.expr | None) -> bool:
    """True for a parameter of the compiled function itself that is never bound anew."""
    scope = site.body.scope
    if not isinstance(node, ast.Name) or isinstance(scope, ast.Module):
        return False
    if len(site.chain) != 1 or site.stores(node.id):
        return False
    given = scope.args
    return any(a.arg == node.id for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))
