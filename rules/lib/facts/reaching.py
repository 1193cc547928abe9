"""Which reads see one of several assignments to a variable."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)


def reads_until_rebound(site: Site, statement: ast.Assign, name: str) -> list[ast.Name] | None:
    """The reads of ``name`` between ``statement`` and the next assignment in the same block.

    None where the value may be seen elsewhere: a nested block does not assign the name again, or
    a block inside does so in between, or an exception handler could find the value.
    """
    if any(isinstance(outer, ast.Try) for outer in site.ancestors(statement)):
        return None
    block = block_of(site, statement)
    reads: list[ast.Name] = []
    for later in block[block.index(statement) + 1 :]:
        found = [n for n in nodes(later) if isinstance(n, ast.Name) and n.id == name]
        reads += [n for n in found if isinstance(n.ctx, ast.Load)]
        stores = [n for n in found if not isinstance(n.ctx, ast.Load)]
        if stores:
            rebinds = isinstance(later, ast.Assign) and later.targets == stores
            return reads if rebinds else None
    # Code behind the function's own last statement does not exist.
    return reads if site.parent(statement) is site.body.scope else None


def reads_that_may_see(site: Site, statement: ast.stmt, name: str) -> list[ast.Name]:
    """All reads of ``name`` that may find what ``statement`` assigned, and maybe some that do not.

    A name that is changed in place (``name += 1``) is among them. Left out is what has run before,
    and the other arms of an `if`, unless a loop comes back to them.
    """
    looped = any(isinstance(outer, _LOOPS) for outer in site.ancestors(statement))
    reads = [n for n in site.body.names(name) if isinstance(n.ctx, ast.Load) or is_changed(site, n)]
    if looped:
        return [n for n in reads if site.parent(n) is not statement or is_changed(site, n)]
    end = (statement.end_lineno or 0, statement.end_col_offset or 0)
    later = [n for n in reads if (n.lineno, n.col_offset) >= end]
    arms = _other_arms(site, statement)
    return [n for n in later if not any(outer in arms for outer in site.ancestors(n))]


def is_changed(site: Site, name: ast.Name) -> bool:
    """True for ``name`` in ``name += 1``: it is read there, and bound again."""
    parent = site.parent(name)
    return isinstance(parent, ast.AugAssign) and parent.target is name


def may_be_read_before(site: Site, statement: ast.AugAssign, name: str) -> bool:
    """True where something else may have the value of ``name`` when ``statement`` changes it."""
    start = (statement.lineno, statement.col_offset)
    loops = {outer for outer in site.ancestors(statement) if isinstance(outer, _LOOPS)}
    return any(
        (load.lineno, load.col_offset) < start or not loops.isdisjoint(site.ancestors(load))
        for load in site.loads(name)
    )


def _other_arms(site: Site, statement: ast.stmt) -> set[ast.AST]:
    """The statements that do not run where ``statement`` runs."""
    found: set[ast.AST] = set()
    inner: ast.AST = statement
    for outer in site.ancestors(statement):
        if isinstance(outer, ast.If):
            found |= set(outer.orelse if inner in outer.body else outer.body)
        inner = outer
    return found


def block_of(site: Site, statement: ast.stmt) -> list[ast.stmt]:
    """The list of statements that holds a statement."""
    outer = site.parent(statement)
    for field in ("body", "orelse", "finalbody"):
        block: list[ast.stmt] = getattr(outer, field, [])
        if statement in block:
            return block
    return [statement]
