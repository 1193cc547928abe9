"""Where does a value go? Follow it through a local variable or a local dict to its uses."""

from __future__ import annotations

import ast

from tclint.records import record
from tclint.semantics.flow import Definition
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site

from .reaching import is_changed


@record(frozen=True)
class Uses:
    """The expressions that hold the value where it is used; ``lost`` says why some are unknown.

    ``statement`` is what computes the value and nothing else, when no use is left at all.
    ``several`` is true where the uses are lost only because the variable holds other values, too.
    """

    nodes: tuple[ast.expr, ...] = ()
    statement: ast.stmt | None = None
    lost: str = ""
    several: bool = False


def uses_of(site: Site, node: ast.expr) -> Uses:
    """Every use of the value of ``node`` in its function."""
    parent, made = site.parent(node), site.flow.holder(node)
    if isinstance(parent, ast.Expr):
        return Uses(statement=parent)
    if isinstance(parent, ast.AnnAssign):
        return Uses(lost="the variable has a type annotation")
    if made is not None and isinstance(made.node, ast.Assign):
        return _held(site, made, parent)
    match parent:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant() as at)]
        ):
            if _is_local_dict(site, name):
                return _reads_of_key(site, name, at.value)
        case ast.Dict(keys=keys, values=values) if (table := site.flow.holder(parent)) is not None:
            key = next((k for k, v in zip(keys, values, strict=True) if v is node), None)
            if isinstance(key, ast.Constant) and _is_local_dict(site, table.name):
                return _reads_of_key(site, table.name, key.value)
    return Uses((node,))


def _held(site: Site, made: Definition, parent: ast.AST | None) -> Uses:
    """The reads of a variable that one assignment makes."""
    why, loads = _hidden(site, made.name), site.flow.own_reads(made)
    if why or loads is None or any(is_changed(site, load) for load in loads):
        reason = why or f"`{made.name}` is assigned more than once"
        return Uses(lost=reason, several=not why)
    statement = parent if isinstance(parent, ast.Assign) and not loads else None
    return Uses(tuple(loads), statement)


def _hidden(site: Site, name: str) -> str:
    """Why a variable may be read where this function does not show it; empty when it is not."""
    if site.body.is_declared(name):
        return f"`{name}` belongs to an outer scope"
    if site.body.defines(name):
        return f"`{name}` also names a definition or an import"
    if any(is_nested(site, node) for node in site.body.names(name)):
        return f"`{name}` is used in a nested function"
    return ""


def _is_local_dict(site: Site, name: str) -> bool:
    """True for a variable that holds one literal, if the dict never leaves the function."""
    made = site.flow.made(name)
    if len(made) != 1 or not isinstance(made[0].value, ast.Dict) or _hidden(site, name):
        return False
    for load in site.loads(name):
        parent = site.parent(load)
        if not isinstance(parent, ast.Subscript) or parent.value is not load:
            return False
        if not isinstance(parent.slice, ast.Constant) or isinstance(parent.ctx, ast.Del):
            return False
    return True


def _reads_of_key(site: Site, name: str, key: object) -> Uses:
    found: list[ast.expr] = []
    for load in site.loads(name):
        parent = site.parent(load)
        if not isinstance(parent, ast.Subscript) or not isinstance(parent.slice, ast.Constant):
            continue
        if parent.slice.value != key:
            continue
        if isinstance(site.parent(parent), ast.AugAssign) and isinstance(parent.ctx, ast.Store):
            return Uses(lost=f"`{name}[{key!r}]` is changed in place")
        if isinstance(parent.ctx, ast.Load):
            found += _follow(site, parent)
    return Uses(tuple(found))


def _follow(site: Site, node: ast.expr) -> tuple[ast.expr, ...]:
    """The uses of a value taken out of a dict, through one more variable."""
    uses = uses_of(site, node)
    return (node,) if uses.lost else uses.nodes
