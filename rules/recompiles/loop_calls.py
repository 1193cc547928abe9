"""Calls of something compiled inside of loops, and what such a loop changes from call to call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import names_in

# torch compiles a function anew so often; shorter loops stay compiled.
_LIMIT: Final = 8


def calls_of_compiled(event: CompileCall) -> Iterator[ast.Call]:
    """The calls of what is compiled, in the function that compiles it."""
    site = event.site
    match site.parent(event.call):
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.FunctionDef(name=name):
            pass
        case _:
            return
    for load in site.loads(name):
        call = site.parent(load)
        if isinstance(call, ast.Call) and call.func is load:
            yield call


def names_loop(site: Site, node: ast.expr) -> bool:
    """True for what holds the variable of a loop around it that is not short."""
    held = names_in(node)
    return any(
        isinstance(loop, ast.For) and held & names_in(loop.target)
        for loop in long_loops(site, node)
    )


def long_loops(site: Site, node: ast.expr) -> Iterator[ast.For | ast.While]:
    """The loops around a place, in its function, that may have many steps."""
    for outer in site.ancestors(node):
        if isinstance(outer, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            return
        if isinstance(outer, ast.While) or (
            isinstance(outer, ast.For) and not _is_short(outer.iter)
        ):
            yield outer


def _is_short(iterable: ast.expr) -> bool:
    match iterable:
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return len(elements) <= _LIMIT
        case ast.Call(func=ast.Name(id="range"), args=[ast.Constant(value=int() as stop)]):
            return stop <= _LIMIT
    return False
