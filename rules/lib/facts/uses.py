"""Where does a value go? Follow it through a local variable or a local dict to its uses."""

from __future__ import annotations

import ast

from tclint.records import record
from tclint.semantics.ownership import is_nested
from tclint.semantics.site import Site

from .known import is_parameter
from .reaching import reads_until_rebound


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
    parent = site.parent(node)
    if isinstance(parent, ast.Expr):
        return Uses(statement=parent)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        return _assigned(site, parent, parent.targets[0])
    if isinstance(parent, ast.Tuple):
        return _unpacked(site, parent, node)
    if isinstance(parent, ast.AnnAssign):
        return Uses(lost="the variable has a type annotation")
    if isinstance(parent, ast.Dict):
        return _dict_entry(site, parent, node)
    return Uses((node,))


def _assigned(site: Site, statement: ast.Assign, target: ast.expr) -> Uses:
    if isinstance(target, ast.Name):
        why = _hidden(site, target.id)
        loads: list[ast.Name] | None = site.loads(target.id)
        if not why and (len(site.stores(target.id)) != 1 or is_parameter(site, target.id)):
            loads = reads_until_rebound(site, statement, target.id)
        if why or loads is None:
            reason = why or f"`{target.id}` is assigned more than once"
            return Uses(lost=reason, several=not why)
        return Uses(tuple(loads), None if loads else statement)
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        table = _local_dict(site, target.value.id)
        if table is not None and isinstance(target.slice, ast.Constant):
            return _reads_of_key(site, target.value.id, target.slice.value)
    return Uses((statement.value,))


def _unpacked(site: Site, members: ast.Tuple, node: ast.expr) -> Uses:
    """A member of ``a, b = node, other``."""
    assign = site.parent(members)
    if not isinstance(assign, ast.Assign) or len(assign.targets) != 1:
        return Uses((node,))
    targets = assign.targets[0]
    if not isinstance(targets, ast.Tuple) or len(targets.elts) != len(members.elts):
        return Uses((node,))
    starred = any(isinstance(part, ast.Starred) for part in (*targets.elts, *members.elts))
    target = targets.elts[members.elts.index(node)]
    if starred or not isinstance(target, ast.Name):
        return Uses((node,))
    found = _assigned(site, assign, target)
    return Uses(found.nodes, None, found.lost)


def _hidden(site: Site, name: str) -> str:
    """Why a variable may be read where this function does not show it; empty when it is not."""
    if site.body.is_declared(name):
        return f"`{name}` belongs to an outer scope"
    if site.body.defines(name):
        return f"`{name}` also names a definition or an import"
    if any(is_nested(site, node) for node in site.body.names(name)):
        return f"`{name}` is used in a nested function"
    return ""


def _dict_entry(site: Site, table: ast.Dict, node: ast.expr) -> Uses:
    """Follow a value of ``d = {"key": value}`` when ``d`` is local and only read by its keys."""
    key = next((k for k, v in zip(table.keys, table.values, strict=True) if v is node), None)
    assign = site.parent(table)
    if not isinstance(key, ast.Constant) or not isinstance(assign, ast.Assign):
        return Uses((node,))
    target = assign.targets[0]
    if len(assign.targets) != 1 or not isinstance(target, ast.Name):
        return Uses((node,))
    if _local_dict(site, target.id) is not table:
        return Uses((node,))
    return _reads_of_key(site, target.id, key.value)


def _local_dict(site: Site, name: str) -> ast.Dict | None:
    """The literal that a variable holds, if the dict never leaves the function."""
    stores = site.stores(name)
    if len(stores) != 1 or _hidden(site, name):
        return None
    assign = site.parent(stores[0])
    if not isinstance(assign, ast.Assign) or not isinstance(assign.value, ast.Dict):
        return None
    for load in site.loads(name):
        parent = site.parent(load)
        if not isinstance(parent, ast.Subscript) or parent.value is not load:
            return None
        if not isinstance(parent.slice, ast.Constant) or isinstance(parent.ctx, ast.Del):
            return None
    return assign.value


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
