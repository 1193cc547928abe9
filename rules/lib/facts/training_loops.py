"""Training loops: what every one of their steps does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.site import Site
from tclint.semantics.training import StepBody

_NESTED: Final = (
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
)
_SOMETIMES: Final = (ast.If, ast.IfExp, ast.Match, ast.ExceptHandler)


def own_nodes(loop: StepBody) -> Iterator[ast.AST]:
    """What a loop's body holds, without the loops and functions inside of it."""
    pending: list[ast.AST] = list(reversed(loop.body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _NESTED):
            pending.extend(reversed(list(ast.iter_child_nodes(node))))


def of_each_step(loop: StepBody) -> list[ast.AST]:
    """What a loop may evaluate more than once: not what it runs over."""
    tests = [loop.test] if isinstance(loop, ast.While) else []
    return [node for part in (*tests, *loop.body) for node in ast.walk(part)]


def called(node: ast.AST) -> str:
    """The last name that a call calls; empty for everything else."""
    match node:
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
            return name
    return ""


def runs_every_time(site: Site, node: ast.AST, loop: StepBody) -> bool:
    """True when nothing between a node and its loop says that it runs only sometimes."""
    for outer in site.ancestors(node):
        if outer is loop:
            return True
        if isinstance(outer, (*_SOMETIMES, *_NESTED)):
            return False
    return False


def is_test(site: Site, loop: StepBody) -> bool:
    """True in a function that test runners collect by its name: it is not there to be fast."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    outer = (node for node in site.ancestors(loop) if isinstance(node, functions))
    return any(node.name.startswith("test_") for node in outer)
