"""Blocks and functions that end in an exception: nobody compiles code for the way to an error."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.semantics.collect import decorator_name
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.syntax import add_children
from tclint.semantics.values import Class, External, Function, Object, Value
from tclint.torch_facts.compiling import ASSERTS

_PLAIN: Final = frozenset({"staticmethod", "classmethod"})
# How an iterator says that it is done is no error.
_ENDS: Final = frozenset({"StopIteration", "StopAsyncIteration"})
_STUBS: Final = frozenset({"NotImplementedError"})
_LEAVES_FUNCTION: Final = (ast.Return, ast.Yield, ast.YieldFrom)
_LEAVES_BLOCK: Final = (*_LEAVES_FUNCTION, ast.Break, ast.Continue)
# What is inside of these leaves nothing around them.
_CLOSED: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Raise)


def always_raises(frame: Frame, block: Sequence[ast.stmt]) -> bool:
    """True for a block that certainly ends in an exception which leaves the function."""
    return _ends_in_raise(frame, block) and not leaves(block) and not _is_caught(frame, block)


def leaves(block: Sequence[ast.stmt]) -> bool:
    """True where what follows a block may not be reached, but for an exception."""
    return _contains(block, _LEAVES_BLOCK)


def never_returns(analysis: Analysis, info: FunctionInfo) -> bool:
    """True for a function of the project that does nothing but raise in the end.

    A method that raises NotImplementedError stands for those that override it.
    """
    known = analysis.always_raises.get(info)
    if known is None:
        analysis.always_raises[info] = False  # until it is known: the function may call itself
        known = analysis.always_raises[info] = _never_returns(analysis, info)
    return known


def _never_returns(analysis: Analysis, info: FunctionInfo) -> bool:
    node = info.node
    if not isinstance(node, ast.FunctionDef):
        return False
    if any(decorator_name(info.module, d) not in _PLAIN for d in node.decorator_list):
        return False
    last = node.body[-1]
    if info.cls is not None and isinstance(last, ast.Raise) and _name(last) in _STUBS:
        return False
    frame = Frame(analysis, analysis.body(info.module, info), None, (), {}, last)
    return _ends_in_raise(frame, node.body) and not _contains(node.body, _LEAVES_FUNCTION)


def _ends_in_raise(frame: Frame, block: Sequence[ast.stmt]) -> bool:
    match block[-1] if block else None:
        case ast.Raise() as last:
            return _name(last) not in _ENDS
        case ast.Assert(test=test):
            return _is_false(test)
        case ast.If(body=body, orelse=orelse):
            return _ends_in_raise(frame, body) and _ends_in_raise(frame, orelse)
        case ast.Expr(value=ast.Call() as call):
            return _raises(frame, call)
    return False


def _raises(frame: Frame, call: ast.Call) -> bool:
    match called(frame, call.func):
        case Function(info=info):
            return never_returns(frame.analysis, info)
        case External(name=name):
            return name in ASSERTS and bool(call.args) and _is_false(call.args[0])
    return False


def called(frame: Frame, node: ast.expr) -> Value | None:
    """What is called, found without evaluating anything."""
    if isinstance(node, ast.Name):
        return frame.lookup(node.id)
    if not isinstance(node, ast.Attribute):
        return None
    match called(frame, node.value):
        case External(name=name):
            return frame.analysis.external(f"{name}.{node.attr}", frame.body.module)
        case Object(cls=cls) | Class(info=cls) if cls is not None:
            method = frame.analysis.project.method(cls, node.attr)
            return Function(method) if method is not None else None
    return None


def _name(statement: ast.Raise) -> str | None:
    """The name of the exception that is raised."""
    raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
    return raised.id if isinstance(raised, ast.Name) else None


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _contains(block: Sequence[ast.stmt], kinds: tuple[type[ast.AST], ...]) -> bool:
    """True where a block has such a statement, not counting functions defined in it."""
    pending: list[ast.AST] = [*block]
    while pending:
        node = pending.pop()
        if isinstance(node, kinds):
            return True
        if not isinstance(node, _CLOSED):
            add_children(node, pending)
    return False


def _is_caught(frame: Frame, block: Sequence[ast.stmt]) -> bool:
    """True where a handler of the same function may go on after the exception."""
    row = block[-1].lineno
    return any(
        attempt.body[0].lineno <= row <= (attempt.body[-1].end_lineno or row)
        and not all(always_raises(frame, handler.body) for handler in attempt.handlers)
        for attempt in frame.facts.tries
    )
