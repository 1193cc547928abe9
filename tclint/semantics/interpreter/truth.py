"""What Python's truth test of a value gives, and what it means where a tensor is asked."""

from __future__ import annotations

import ast

from tclint.semantics.events import Deciding, TensorBranch
from tclint.semantics.interpreter.evaluate import evaluate, need_numpy, note_use
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.narrowing import refine
from tclint.semantics.interpreter.off_by_default import is_off_by_default
from tclint.semantics.interpreter.special import asked_for_truth
from tclint.semantics.lattice import is_tensor, may_be_tensor, options, same
from tclint.semantics.site import BY_REQUEST, EACH_CALL
from tclint.semantics.values import (
    NONE,
    Class,
    Function,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Value,
)


def truth(frame: Frame, node: ast.expr, kind: Deciding) -> bool | None:
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


def _truth_of_bool_op(frame: Frame, node: ast.BoolOp, kind: Deciding) -> bool | None:
    conjunction = isinstance(node.op, ast.And)
    before = frame.env
    certain, off = True, False
    for operand in node.values:
        with frame.within(reach=BY_REQUEST if off else EACH_CALL):
            verdict = truth(frame, operand, kind)
        off = off or (conjunction and is_off_by_default(frame, operand, outcome=True))
        if verdict is (not conjunction):
            frame.restore(before)
            return not conjunction  # whatever the operands before it are
        certain = certain and verdict is not None
        frame.env = refine(frame, frame.env, operand, outcome=conjunction)
    frame.restore(before)
    frame.body.values[node] = Static("bool")
    return conjunction if certain else None


def decide(frame: Frame, node: ast.expr, value: Value, kind: Deciding) -> bool | None:
    """What Python's truth test of a value gives; reports the branch where a tensor decides."""
    if value is NONE:
        return False
    if is_tensor(value):
        frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node)
        return None
    if type(value) is Union or type(value) is Object:
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
        note_use(frame, node, value)
        need_numpy(frame, node, value, "not" if kind == "not" else "truth")
        if any(isinstance(o, NumpyScalar) and _is_told(o) for o in options(value)):
            some = not isinstance(value, NumpyScalar)
            frame.analysis.emit(frame, TensorBranch, node, kind=kind, test=node, sometimes=some)
    return verdicts.pop() if len(verdicts) == 1 else None


def _is_told(number: NumpyScalar) -> bool:
    """True for numbers whose decisions are branches; those of others go with the loop or call."""
    return number.is_drawn or not (number.from_loop or number.made)


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
