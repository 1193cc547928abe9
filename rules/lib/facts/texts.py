"""Is the text made from a tensor only handed out of the region, or does traced code look at it?"""

from __future__ import annotations

import ast

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Function

from .uses import uses_of

_CONTAINERS = (ast.List, ast.Tuple, ast.Dict, ast.Set)


def is_handed_out(site: Site, text: ast.expr) -> bool:
    """True where Dynamo can make the string after the graph has run: returned, stored, or lost."""
    uses = uses_of(site, text)
    return not uses.lost and all(_leaves(site, use) for use in uses.nodes)


def _leaves(site: Site, use: ast.AST) -> bool:
    parent = site.parent(use)
    if isinstance(parent, _CONTAINERS):
        return _leaves(site, parent)
    if isinstance(parent, ast.keyword):
        return _leaves(site, parent)
    if isinstance(parent, ast.Call):
        # What the project's own function does with the text is judged there.
        return all(isinstance(option, Function) for option in options(site.value(parent.func)))
    if isinstance(parent, ast.Assign):
        return not any(isinstance(t, ast.Subscript) for t in parent.targets)
    return isinstance(parent, ast.Return)


def enclosing_text(site: Site, part: ast.FormattedValue) -> ast.JoinedStr | None:
    """The f-string around a replacement field."""
    parent = site.parent(part)
    return parent if isinstance(parent, ast.JoinedStr) else None
