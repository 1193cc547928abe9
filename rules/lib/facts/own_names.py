"""What a scope does with a variable of its own, and what of it may run behind a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.site import Site

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def own_loads(site: Site, name: str) -> list[ast.Name]:
    """The reads of a variable, in the functions inside too, unless these bind the name."""
    return [load for load in site.loads(name) if not _is_of_others(site, load)]


def follows(site: Site, load: ast.expr, node: ast.expr) -> bool:
    """True for what may run behind a node: below it, in a loop around it, or in a function."""
    loops = site.facts.loops
    return is_below(site, load, node) or bool(loops and load.lineno >= loops[0].lineno)


def is_below(site: Site, load: ast.expr, node: ast.expr) -> bool:
    """True for what stands below a node, or in a function, which may be called there."""
    if any(load is inner for inner in ast.walk(node)):
        return False
    end = node.end_lineno or node.lineno, node.end_col_offset or 0
    return (load.lineno, load.col_offset) >= end or any(_inner_functions(site, load))


def _is_of_others(site: Site, load: ast.Name) -> bool:
    return any(_binds(function, load.id) for function in _inner_functions(site, load))


def _inner_functions(
    site: Site, node: ast.expr
) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    """The functions around a node inside of the one that the site is in."""
    for outer in site.ancestors(node):
        if isinstance(outer, _FUNCTIONS) and outer is not site.body.scope:
            yield outer


def _binds(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, name: str) -> bool:
    arguments = function.args
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    rest = (arguments.vararg, arguments.kwarg)
    if any(one is not None and one.arg == name for one in (*every, *rest)):
        return True
    nodes = [*ast.walk(function)]
    if any(isinstance(n, (ast.Global, ast.Nonlocal)) and name in n.names for n in nodes):
        return False
    stores = (n for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
    return any(store.id == name for store in stores)
