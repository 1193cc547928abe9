"""What may run behind a place."""

from __future__ import annotations

import ast

from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site
from tclint.semantics.syntax import end_of, start_of


def follows(site: Site, load: ast.expr, node: ast.expr) -> bool:
    """True for what may run behind a node: below it, in a loop around it, or in a function."""
    loops = site.facts.loops
    return is_below(site, load, node) or bool(loops and load.lineno >= loops[0].lineno)


def is_below(site: Site, load: ast.expr, node: ast.expr) -> bool:
    """True for what stands below a node, or in a function, which may be called there."""
    if any(load is inner for inner in ast.walk(node)):
        return False
    return start_of(load) >= end_of(node) or is_nested(site, load)
