"""Calls of something compiled whose arguments change their size from step to step of a loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.events import CompileCall
from tclint.semantics.site import Site

from .loop_calls import calls_of_compiled, long_loops, names_loop

_FACTORIES: Final = frozenset(
    f"torch.{name}" for name in ("arange", "empty", "full", "ones", "rand", "randn", "zeros")
)
_JOINED: Final = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})


def sizes_of_loop(event: CompileCall) -> Iterator[ast.expr]:
    """The arguments that have another size in each step of a loop."""
    for call in calls_of_compiled(event):
        for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
            if _varies(event.site, argument):
                yield argument


def _varies(site: Site, argument: ast.expr) -> bool:
    match argument:
        case ast.Name(id=name):
            return any(_extends(site, loop, name) for loop in long_loops(site, argument))
        case ast.Subscript(slice=ast.Tuple(elts=parts)):
            return any(_ends_at_loop(site, part) for part in parts)
        case ast.Subscript(slice=part):
            return _ends_at_loop(site, part)
        case ast.Call(func=function, args=sizes):
            is_new = site.dotted(function) in _FACTORIES
            return is_new and any(names_loop(site, size) for size in sizes)
    return False


def _ends_at_loop(site: Site, part: ast.expr) -> bool:
    match part:
        case ast.Slice(lower=None, upper=ast.expr() as end, step=None):
            return names_loop(site, end)
        case ast.Slice(lower=ast.expr() as start, upper=None, step=None):
            return names_loop(site, start)
    return False


def _extends(site: Site, loop: ast.For | ast.While, name: str) -> bool:
    """True for a loop with the statement ``name = torch.cat([name, ...])``."""
    for node in ast.walk(loop):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)], value=ast.Call(func=function, args=[parts, *_])
            ) if target == name and site.dotted(function) in _JOINED:
                if any(isinstance(p, ast.Name) and p.id == name for p in ast.walk(parts)):
                    return True
    return False
