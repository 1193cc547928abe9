"""What a compiled function is given."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site


def is_input(site: Site, node: ast.expr | None) -> bool:
    """True for a parameter of the compiled function itself that is never bound anew."""
    scope = site.body.scope
    if not isinstance(node, ast.Name) or isinstance(scope, ast.Module):
        return False
    if len(site.chain) != 1 or site.stores(node.id):
        return False
    given = scope.args
    return any(a.arg == node.id for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))
