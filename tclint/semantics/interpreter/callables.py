"""Calls of values; each kind of value has a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeVar

from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.values import UNKNOWN, Value

C = TypeVar("C", bound=Callable[..., Value])
CALLERS: Final[dict[type[Value], Callable[..., Value]]] = {}


def calls(kind: type[Value]) -> Callable[[C], C]:
    """Register the function that calls one kind of value."""

    def register(caller: C) -> C:
        CALLERS[kind] = caller
        return caller

    return register


def call_value(frame: Frame, node: ast.Call, callee: Value, arguments: Arguments) -> Value:
    """The result of calling one known value."""
    call = CALLERS.get(type(callee))
    return UNKNOWN if call is None else call(frame, node, callee, arguments)
