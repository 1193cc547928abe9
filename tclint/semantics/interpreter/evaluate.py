"""Evaluate expressions to abstract values; each kind of syntax has a function of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final, TypeVar, cast

from tclint.semantics.events import ArrayRead, TensorBranch
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import is_tensor, join, may_be_tensor, options, same
from tclint.semantics.syntax import CONSTANT, NAME
from tclint.semantics.values import (
    NONE,
    UNKNOWN,
    Class,
    Function,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
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
    kind = type(node)
    values = frame.body.values
    if kind is NAME:  # two of five expressions: not worth a call
        name = cast("ast.Name", node).id
        value = frame.env.get(name) or frame.lookup(name)
    elif kind is CONSTANT:
        return values.get(node) or _constant(frame, cast("ast.Constant", node))
    else:
        handler = HANDLERS.get(kind)
        value = UNKNOWN if handler is None else handler(frame, node)
    known = values.get(node)
    if known is None:
        values[node] = value
    elif not same(known, value):
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


def truth(frame: Frame, node: ast.expr, kind: str) -> bool | None:
    """Ask for the truth of an expression the way ``if`` does; None when it is not known.

    Reports a :class:`TensorBranch` of the given kind where a tensor decides.
    """
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            verdict = truth(frame, operand, kind)
            frame.body.values[node] = Static("bool")
            return None if verdict is None else not verdict
        case ast.BoolOp():
            return _truth_of_bool_op(frame, node, kind)
    return decide(frame, node, evaluate(frame, node), kind)


def _truth_of_bool_op(frame: Frame, node: ast.BoolOp, kind: str) -> bool | None:
    from tclint.semantics.interpreter.narrowing import refine
    from tclint.semantics.interpreter.unusual import is_unusual

    conjunction = isinstance(node.op, ast.And)
    before = frame.env
    certain, off = True, False
    for operand in node.values:
        with frame.within(default_off=off):
            verdict = truth(frame, operand, kind)
        off = off or (conjunction and is_unusual(frame, operand, outcome=True))
        if verdict is (not conjunction):
            frame.restore(before)
            return not conjunction  # whatever the operands before it are
        certain = certain and verdict is not None
        frame.env = refine(frame, frame.env, operand, outcome=conjunction)
    frame.restore(before)
    frame.body.values[node] = Static("bool")
    return conjunction if certain else None


def decide(frame: Frame, node: ast.expr, value: Value, kind: str) -> bool | None:
    """What Python's truth test of a value gives; reports the branch where a tensor decides."""
    if value is NONE:
        return False
    if is_tensor(value):
        frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node)
        return None
    if type(value) is Union or type(value) is Object:
        from tclint.semantics.interpreter.special import asked_for_truth

        answer = asked_for_truth(frame, node, value)
        if not same(answer, value):
            return decide(frame, node, answer, kind)
    if type(value) is not Union and type(value) is not NumpyScalar:
        return _plain_truth(value)
    verdicts = {_plain_truth(option) for option in options(value)}
    if _sometimes_tensor(value):
        frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node, sometimes=True)
        return None
    if any(isinstance(option, NumpyScalar) for option in options(value)):
        _note_use(frame, node, value)
        need_numpy(frame, node, value, "not" if kind == "not" else "truth")
        if any(isinstance(o, NumpyScalar) and not (o.from_loop or o.made) for o in options(value)):
            some = not isinstance(value, NumpyScalar)
            frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node, sometimes=some)
    return verdicts.pop() if len(verdicts) == 1 else None


def _sometimes_tensor(value: Value) -> bool:
    """True for a tensor or a plain flag, as ``flag and tensor`` gives."""
    kinds = list(options(value))
    return (
        len(kinds) > 1
        and may_be_tensor(value)
        and all(isinstance(kind, (Tensor, Static)) for kind in kinds)
    )


def _plain_truth(value: Value) -> bool | None:
    if isinstance(value, Static):
        return bool(value.value) if value.known else None
    if isinstance(value, Sequence):
        return None if value.items is None else bool(value.items)
    if isinstance(value, Object):
        return True if value.is_module else None
    return True if isinstance(value, (Class, Function)) else None


def need_number(frame: Frame, node: ast.expr, value: Value, why: str) -> None:
    """Note that Python needs a number here, which to Dynamo nothing of numpy's is.

    ``why`` is that of :class:`NumberNeeded`.
    """
    _note_use(frame, node, value)
    need_numpy(frame, node, value, why)


def need_numpy(frame: Frame, node: ast.expr, value: Value, why: str) -> None:
    """Note the need for a number of numpy that no loop draws, where Dynamo does not have it."""
    if type(value) is not NumpyScalar and type(value) is not Union:
        return
    for option in options(value):
        if isinstance(option, NumpyScalar) and not option.from_loop and _breaks(option, why):
            if option.made:
                frame.analysis.note_need(frame, option.made, node, why)
            elif why not in ("truth", "not"):  # those are decisions
                frame.analysis.emit(frame, ArrayRead, node, via="number")


def _breaks(number: NumpyScalar, why: str) -> bool:
    """Whether Dynamo needs the number's value there, and does not have it. All measured."""
    if number.origin is None:
        return False
    if why in ("truth", "not", "member", "range", "text", "key"):
        return True
    if number.origin == "constant":
        # Dynamo converts one float that it computed from constants, and no integer.
        return why in ("slice", "python") and number.type in ("int", "bool")
    return number.origin in ("computed", "array")


def _note_use(frame: Frame, node: ast.expr, value: Value) -> None:
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
