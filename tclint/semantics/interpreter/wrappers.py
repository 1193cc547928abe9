"""Decorators of the program: what their wrappers do around the function that they wrap."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from tclint.semantics.interpreter.arguments import Arguments, bind
from tclint.semantics.interpreter.contexts import EXACT
from tclint.semantics.interpreter.evaluate import evaluate
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.memory import walk
from tclint.semantics.records import record
from tclint.semantics.symbols import FunctionInfo, FunctionNode
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Function, Value

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis

NESTED: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


@record(frozen=True)
class Wrapper:
    """The function that a decorator puts in the place of another, and the variables around it."""

    function: FunctionInfo
    closure: Frame


def wrappers_of(analysis: Analysis, info: FunctionInfo) -> tuple[Wrapper, ...]:
    """The wrappers around a function, the outermost first.

    Only decorators that visibly make one are followed: a function inside calls the one given.
    """
    known = analysis.wrappers
    if info not in known:
        known[info] = ()  # while its own decorators are looked at
        known[info] = tuple(reversed([*_wrappers(analysis, info)]))
    return known[info]


def is_wrapped(analysis: Analysis, info: FunctionInfo) -> bool:
    """Whether a decorator visibly puts a wrapper around a function."""
    if isinstance(info.node, ast.Lambda):
        return False
    top = Frame(analysis, analysis.body(info.module, None), None, (), {}, info.node)
    return any(_decorator(top, node) is not None for node in info.node.decorator_list)


def _wrappers(analysis: Analysis, info: FunctionInfo) -> Iterator[Wrapper]:
    if isinstance(info.node, ast.Lambda):
        return
    wrapped = info
    for node in reversed(info.node.decorator_list):
        top = Frame(analysis, analysis.body(info.module, None), None, (), {}, info.node)
        decorator = _decorator(top, node)
        if decorator is None:
            continue
        wrapper = _applied(top, decorator, wrapped)
        if wrapper is None:
            return  # what it makes of the function is not known
        wrapped = wrapper.function
        yield wrapper


def _decorator(top: Frame, node: ast.expr) -> Function | None:
    """The function of the program that is called with the one to wrap."""
    named = evaluate(top, node.func if isinstance(node, ast.Call) else node)
    if not isinstance(named, Function):
        return None
    known, definition = top.analysis.makes_wrapper, named.info.node
    if definition not in known:
        known[definition] = _wraps(definition, frozenset())
    if not known[definition]:
        return None
    made = evaluate(top, node) if isinstance(node, ast.Call) else named
    return made if isinstance(made, Function) else None


def _applied(top: Frame, decorator: Function, wrapped: FunctionInfo) -> Wrapper | None:
    analysis, info = top.analysis, decorator.info
    if info in analysis.active or _is_known(analysis, info):
        return None
    analysis.applied[info] += 1
    result = walk_decorator(analysis, decorator, Function(wrapped))
    if not isinstance(result, Function) or result.info is wrapped:
        return None
    closure = analysis.closures.get(result.info.node)
    return Wrapper(result.info, closure) if closure is not None else None


def _is_known(analysis: Analysis, info: FunctionInfo) -> bool:
    """Whether walks came to all that a decorator puts around functions, again and again."""
    if analysis.applied[info] < EXACT.most:
        return False
    inside = [analysis.local_functions.get(node) for node in nodes(info.node)]
    return all(function in analysis.visited for function in inside if function is not None)


def walk_decorator(analysis: Analysis, decorator: Function, given: Function) -> Value:
    """What a decorator makes of a function: it is walked as Python calls it, outside of regions."""
    info = decorator.info
    for inner in nodes(info.node):
        known = analysis.local_functions.get(inner)
        if known is not None:  # made anew for each function, with other variables around it
            analysis.memory.get(known, {}).pop(None, None)
    return walk(analysis, info, bind(analysis, decorator, Arguments((given,))), None)


def _wraps(node: FunctionNode, parameters: frozenset[str]) -> bool:
    """Whether a function inside calls a parameter of one around it, as wrappers do."""
    around = parameters | {argument.arg for argument in node.args.args}
    inside = [n for n in nodes(node) if n is not node and isinstance(n, NESTED)]
    return any(_calls(inner, around) or _wraps(inner, around) for inner in inside)


def _calls(node: ast.AST, names: frozenset[str]) -> bool:
    return any(
        isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in names
        for inner in nodes(node)
    )
