"""Evaluate expressions to abstract values; each kind of syntax has a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeVar

from tclint.semantics.events import ArrayRead
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import join, options, same
from tclint.semantics.syntax import CONSTANT, NAME
from tclint.semantics.values import (
    UNKNOWN,
    NumpyScalar,
    Sequence,
    Union,
    Value,
    constant,
)

H = TypeVar("H", bound=Callable[..., Value])
HANDLERS: Final[dict[type[ast.expr], Callable[..., Value]]] = {}


def handles(kind: type[ast.expr]) -> Callable[[H], H]:
    """Register the function that evaluates one kind of expression."""

    def register(handler: H) -> H:
        HANDLERS[kind] = handler
        return handler

    return register


def evaluate(frame: Frame, node: ast.expr) -> Value:
    """The value of an expression; remembered in the body for the rules' questions."""
    values = frame.body.values
    if isinstance(node, NAME):  # two of five expressions: not worth a call
        name = node.id
        value = frame.env.get(name) or frame.lookup(name)
    elif isinstance(node, CONSTANT):
        return values.get(node) or _constant(frame, node)
    else:
        handler = HANDLERS.get(type(node))
        value = UNKNOWN if handler is None else handler(frame, node)
    known = values.get(node)
    if known is None:
        values[node] = value
    elif known is not value and not same(known, value):
        values[node] = join((known, value))
    return value


def _constant(frame: Frame, node: ast.Constant) -> Value:
    literals = frame.analysis.literals
    key = (type(node.value), node.value)  # 1, True and 1.0 are equal
    value = literals.get(key)
    if value is None:
        value = literals[key] = constant(node.value)
    frame.body.values[node] = value
    return value


def need_number(frame: Frame, node: ast.expr, value: Value, why: str) -> None:
    """Note that Python needs a number here, which to Dynamo nothing of numpy's and drawn is.

    ``why`` is that of :class:`NumberNeeded`.
    """
    note_use(frame, node, value)
    need_numpy(frame, node, value, why)


def need_numpy(frame: Frame, node: ast.expr, value: Value, why: str) -> None:
    """Note the need for a number of numpy, or a drawn one, where Dynamo does not have it."""
    if type(value) is not NumpyScalar and type(value) is not Union:
        return
    for option in options(value):
        if isinstance(option, NumpyScalar) and not option.from_loop and _breaks(option, why):
            if option.made:
                frame.analysis.note_need(frame, option.made, node, why)
            elif why not in ("truth", "not"):  # those are decisions
                frame.analysis.emit(frame, ArrayRead, node, via="number")


def need_drawn(frame: Frame, node: ast.expr, value: Value, why: str) -> None:
    """Note the need for a number that ``random`` drew, where one of numpy's would do."""
    for option in options(value):
        if isinstance(option, NumpyScalar):
            if option.is_drawn:
                frame.analysis.note_need(frame, option.made, node, why)
        elif isinstance(option, Sequence):
            for member in option.items if option.items is not None else (option.element,):
                need_drawn(frame, node, member, why)


def is_drawn(value: Value) -> bool:
    """True for a number that ``random`` draws."""
    return isinstance(value, NumpyScalar) and value.is_drawn


def holds_drawn(value: Value) -> bool:
    """True for a number that ``random`` draws, and for a tuple that holds one."""
    if isinstance(value, Sequence) and value.items is not None:
        return any(map(holds_drawn, value.items))
    return is_drawn(value)


def need_sizes(frame: Frame, part: ast.expr, value: Value) -> None:
    """Note that Python needs a number here, or each of those that a shape is made of."""
    for place, member in _members(part, value):
        need_number(frame, place, member, "torch")


def _members(part: ast.expr, value: Value) -> list[tuple[ast.expr, Value]]:
    """What a shape is made of, each at its own place where it is written out."""
    if not isinstance(value, Sequence):
        return [(part, value)]
    if value.items is None:
        return [(part, value.element)]
    written = part.elts if isinstance(part, (ast.Tuple, ast.List)) else []
    if len(written) != len(value.items) or any(isinstance(one, ast.Starred) for one in written):
        return [(part, member) for member in value.items]
    return list(zip(written, value.items, strict=True))


def _breaks(number: NumpyScalar, why: str) -> bool:
    """Whether Dynamo needs the number's value there, and does not have it. All measured."""
    if number.origin is None or why == "arithmetic":
        return number.is_drawn
    if why in ("truth", "not", "member", "range", "text", "key"):
        return True
    if number.origin == "constant":
        # Dynamo converts one float that it computed from constants, and no integer.
        return why in ("slice", "python") and number.type in ("int", "bool")
    return number.origin in ("computed", "array", "drawn")


def note_use(frame: Frame, node: ast.expr, value: Value) -> None:
    """Report that Python needs a number that a loop over numpy draws, or keep it for the loop."""
    if type(value) is Union:
        needed = any(isinstance(kind, NumpyScalar) and kind.from_loop for kind in value.options)
    else:
        needed = isinstance(value, NumpyScalar) and value.from_loop
    if not needed:
        return
    if frame.rounds:
        frame.numpy_uses.append(node)
    else:
        frame.analysis.emit(frame, ArrayRead, node, via="number")
