"""Calls of functions that are passed on: to ``map``, ``sorted(key=...)``, ``functools.partial``.

The call's syntax is then another's. What a function of the project does is reported where it does
it; what one of a library reads, by the call that it is passed to.
"""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import Event
from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.callables import call_value
from tclint.semantics.interpreter.expressions import host_read
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import join, likely_tensor, options
from tclint.semantics.values import BoundExternal, External, Partial, Tensor, Value

_EVERYTHING: Final = tuple(kind.__name__ for kind in Event.__subclasses__())


def call_given(
    frame: Frame, node: ast.Call, callee: Value, arguments: Arguments, source: ast.expr
) -> Value:
    """The result of calling ``callee`` in the course of ``node``; ``source`` holds what it gets."""
    return join([_call(frame, node, kind, arguments, source) for kind in options(callee)])


def sorting_key(frame: Frame, node: ast.Call, member: Value, arguments: Arguments) -> Value:
    """What sorting compares: the members, or what ``key=`` makes of them."""
    if "key" not in arguments.keywords:
        return member
    given = Arguments((member,))
    source = node.args[0] if node.args else node.func
    return call_given(frame, node, arguments.keywords["key"], given, source)


def reduced(frame: Frame, node: ast.Call, function: Value, first: Value, member: Value) -> Value:
    """What a function makes of a first value and a member, and of what it made and another."""
    source = node.args[-1] if node.args else node
    once = call_given(frame, node, function, Arguments((first, member)), source)
    return join([once, call_given(frame, node, function, Arguments((once, member)), source)])


def _call(
    frame: Frame, node: ast.Call, callee: Value, arguments: Arguments, source: ast.expr
) -> Value:
    if isinstance(callee, Partial):
        return _call(frame, node, callee.function, completed(callee, arguments), source)
    if not isinstance(callee, (External, BoundExternal)):
        return call_value(frame, node, callee, arguments)
    before = frame.reads
    with frame.silencing(*_EVERYTHING):
        result = call_value(frame, _stand_in(node, arguments, source), callee, arguments)
    if frame.reads > before:
        read = next(filter(None, map(likely_tensor, arguments.values())), None)
        owner = callee.owner if isinstance(callee, BoundExternal) else None
        tensor = owner if isinstance(owner, Tensor) else read or Tensor(assumed=True)
        host_read(frame, node, "given", source, tensor)
    return result


def completed(partial: Partial, arguments: Arguments) -> Arguments:
    """The arguments that a partial function is called with in the end."""
    return Arguments(
        (*partial.positional, *arguments.positional),
        {**dict(partial.keywords), **arguments.keywords},
        arguments.exact,
    )


def _stand_in(node: ast.Call, arguments: Arguments, source: ast.expr) -> ast.Call:
    """A call as it would be written: nothing is reported of it."""
    keywords = [ast.keyword(arg=name, value=source) for name in arguments.keywords]
    call = ast.Call(func=node.func, args=[source] * len(arguments.positional), keywords=keywords)
    return ast.copy_location(call, node)
