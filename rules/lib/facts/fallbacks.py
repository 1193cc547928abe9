"""Code that stands in for what the library may not have: rewriting it would make it pointless."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes

KEPT = "the function already chooses between this and `{}`, for versions without it"


def is_fallback(site: Site, dotted: str) -> bool:
    """True in a function that names ``dotted`` already, or asks by its last name if it is there."""
    scope, last = site.body.scope, dotted.rpartition(".")[2]
    if isinstance(scope, ast.Module):
        return False
    for node in nodes(scope):
        if isinstance(node, ast.Constant) and node.value == last:
            return True
        if isinstance(node, ast.Attribute) and node.attr == last and site.dotted(node) == dotted:
            return True
    return False
