"""Which reads see one of several assignments to a variable, where that is plain to see."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site


def reads_until_rebound(site: Site, statement: ast.Assign, name: str) -> list[ast.Name] | None:
    """The reads of ``name`` between ``statement`` and the next assignment in the same block.

    None where the value may be seen elsewhere: a nested block does not assign the name again, or
    a block inside does so in between, or an exception handler could find the value.
    """
    if any(isinstance(outer, ast.Try) for outer in site.ancestors(statement)):
        return None
    block = _block_of(site, statement)
    reads: list[ast.Name] = []
    for later in block[block.index(statement) + 1 :]:
        found = [n for n in ast.walk(later) if isinstance(n, ast.Name) and n.id == name]
        reads += [n for n in found if isinstance(n.ctx, ast.Load)]
        stores = [n for n in found if not isinstance(n.ctx, ast.Load)]
        if stores:
            rebinds = isinstance(later, ast.Assign) and later.targets == stores
            return reads if rebinds else None
    # Code behind the function's own last statement does not exist.
    return reads if site.parent(statement) is site.body.scope else None


def _block_of(site: Site, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds a statement."""
    outer = site.parent(statement)
    for field in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(outer, field, [])
        if statement in block:
            return block
    return [statement]
