"""The parameter groups that an optimizer is made with, where the file writes them out."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site


def written_groups(site: Site, given: ast.expr | None) -> tuple[list[ast.expr], list[ast.Name]]:
    """The groups, and what else reads the variables that hold them."""
    others: list[ast.Name] = []
    if isinstance(given, ast.Name):
        groups = _elements(_only_value(site, given.id))
        for load in site.loads(given.id):
            appended = _appended(site, load)
            if appended is not None:
                groups.append(appended)
            elif load is not given:
                others.append(load)
    else:
        groups = _elements(given)
    for number, group in enumerate(groups):
        held = _only_value(site, group.id) if isinstance(group, ast.Name) else None
        if isinstance(group, ast.Name) and held is not None:
            groups[number] = held
            others += [load for load in site.loads(group.id) if load is not group]
    return groups, others


def _only_value(site: Site, name: str) -> ast.expr | None:
    stores = site.stores(name)
    match site.parent(stores[0]) if len(stores) == 1 else None:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case ast.AnnAssign(value=ast.expr() as value):
            return value
    return None


def _elements(node: ast.expr | None) -> list[ast.expr]:
    match node:
        case ast.List(elts=groups) | ast.Tuple(elts=groups):
            return [*groups]
        case ast.ListComp(elt=group) | ast.GeneratorExp(elt=group):
            return [group]
    return []


def _appended(site: Site, load: ast.Name) -> ast.expr | None:
    match list(site.ancestors(load))[:3]:
        case [ast.Attribute(attr="append"), ast.Call(args=[group], keywords=[]), ast.Expr()]:
            return group
    return None
