"""Which reads see one of several assignments to a variable."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site, once
from tclint.semantics.syntax import nodes

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_LEAVING = (*_LOOPS, ast.Try, ast.With, ast.AsyncWith)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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


Binder = ast.stmt | ast.arg | ast.comprehension
"""What may give a variable its value: a statement, a loop around, a parameter."""


def binding_of(site: Site, read: ast.Name) -> ast.stmt | ast.arg | None:
    """The assignment, or the parameter, whose value a read certainly finds; None if unknown."""
    binder = binder_of(site, read)
    if isinstance(binder, ast.comprehension):
        return None
    return binder if isinstance(binder, ast.arg) or _binds_alone(binder, read.id) else None


@once
def binder_of(site: Site, read: ast.Name) -> Binder | None:
    """What last bound the name: in one round of a loop, reads with one binder find one value.

    Of a statement with others inside, or a loop around, it may be that only some ways bind it.
    None where that is not plain to see.
    """
    name = read.id
    if site.body.is_declared(name) or site.body.defines(name):
        return None
    inner: ast.AST = read
    is_assigned = site.body.assigns(name)
    for outer in site.ancestors(read):
        if isinstance(outer, (ast.Lambda, ast.ClassDef, ast.GeneratorExp)):
            return None
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found = _bound_before(outer, inner, name) if is_assigned else None
            return found or (_parameter(outer, name) if outer is site.body.scope else None)
        binder = _bound_by(outer, inner, name) if is_assigned else None
        if binder is not None:
            return binder
        own = isinstance(outer, ast.stmt) and not isinstance(inner, ast.stmt)
        if own and is_assigned and _names_inside(outer, name):
            return None
        inner = outer
    return None


def _bound_by(outer: ast.AST, inner: ast.AST, name: str) -> Binder | None:
    """What binds a name around a node, or before it in its block."""
    if isinstance(outer, _COMPREHENSIONS):
        return next((one for one in outer.generators if _binds(one.target, name)), None)
    found = _bound_before(outer, inner, name)
    if found is None and isinstance(outer, _LEAVING) and isinstance(outer, ast.stmt):
        return outer if _binds(outer, name) else None
    return found


def _bound_before(outer: ast.AST, inner: ast.AST, name: str) -> ast.stmt | None:
    block: list[ast.stmt] = next((b for b in _blocks(outer) if inner in b), [])
    before = block[: block.index(inner)] if isinstance(inner, ast.stmt) and block else []
    return next((one for one in reversed(before) if _binds(one, name)), None)


def _blocks(node: ast.AST) -> list[list[ast.stmt]]:
    fields = (getattr(node, field, None) for field in ("body", "orelse", "finalbody"))
    return [block for block in fields if isinstance(block, list)]


def _names_inside(statement: ast.AST, name: str) -> bool:
    """True for a statement that binds a name with ``:=``."""
    return any(
        isinstance(part, ast.NamedExpr) and part.target.id == name for part in nodes(statement)
    )


def _binds(node: ast.AST, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name and not isinstance(part.ctx, ast.Load)
        for part in nodes(node)
    )


def _binds_alone(statement: ast.AST | None, name: str) -> bool:
    """True for ``name = ...``, which binds the name once and nothing else."""
    match statement:
        case ast.Assign(targets=[ast.Name()], value=value):
            return not _binds(value, name)
    return False


def _parameter(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> ast.arg | None:
    given = function.args
    plain = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return next((one for one in plain if one.arg == name), None)


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
