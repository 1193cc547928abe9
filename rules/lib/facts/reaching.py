"""What bound the variable that is read at a place, and the block that a statement is in."""

from __future__ import annotations

import ast

from tclint.semantics.flow import Binder
from tclint.semantics.site import Site


def binder_of(site: Site, read: ast.Name) -> Binder | None:
    """What last bound the name: in one round of a loop, reads with one binder find one value."""
    found = site.flow.definition(read)
    return None if found is None else found.node


def is_changed(site: Site, name: ast.Name) -> bool:
    """True for ``name`` in ``name += 1``: it is read there, and bound again."""
    parent = site.parent(name)
    return isinstance(parent, ast.AugAssign) and parent.target is name


def block_of(site: Site, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds a statement."""
    outer = site.parent(statement)
    for field in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(outer, field, [])
        if statement in block:
            return block
    return [statement]
