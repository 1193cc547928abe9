"""What a test's outcome says about variables: ``is None``, ``isinstance``, truthiness."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.semantics.interpreter.correlation import recall
from tclint.semantics.interpreter.frame import Env, Frame
from tclint.semantics.lattice import join, options
from tclint.semantics.syntax import ATTRIBUTE, COMPARE, NAME, path_of
from tclint.semantics.values import (
    NONE,
    STATIC,
    UNKNOWN,
    Class,
    DataScalar,
    External,
    Mapping,
    NDArray,
    Object,
    Sequence,
    Static,
    SymInt,
    Tensor,
    Unknown,
    Value,
)

TENSOR_TYPES: Final = frozenset(
    {"torch.Tensor", "torch.nn.Parameter", "torch.FloatTensor", "torch.LongTensor"}
)


def refine(frame: Frame, env: Env, test: ast.expr, *, outcome: bool) -> Env:
    """The variables after ``test`` came out as ``outcome``; ``env`` itself stays as it is."""
    refined = dict(env)
    recall(frame, refined, test, outcome=outcome)
    _apply(frame, refined, test, outcome)
    return refined


def has_members(frame: Frame, node: ast.expr) -> None:
    """Note that a member of a value was called: it is not None, or an exception was raised."""
    _keep(frame, frame.env, node, lambda value: value is not NONE)


def _apply(frame: Frame, env: Env, test: ast.expr, outcome: bool) -> None:
    if isinstance(test, (NAME, ATTRIBUTE)):  # most tests: not worth the patterns
        if outcome:
            _keep(frame, env, test, lambda v: v is not NONE)
        return
    if isinstance(test, COMPARE):
        _none(frame, env, test, outcome)
        return
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            _apply(frame, env, operand, not outcome)
        case ast.BoolOp(op=ast.And(), values=values) if outcome:
            for value in values:
                _apply(frame, env, value, True)
        case ast.BoolOp(op=ast.Or(), values=values) if not outcome:
            for value in values:
                _apply(frame, env, value, False)
        case ast.Call(func=ast.Name(id="isinstance"), args=[subject, types]):
            _instance(frame, env, subject, types, outcome)
        case ast.Call(func=func, args=[subject]) if _names_is_tensor(frame, func):
            _keep(frame, env, subject, lambda v: isinstance(v, Tensor) == outcome, Tensor())
        case ast.NamedExpr(target=target):
            _apply(frame, env, target, outcome)


def _none(frame: Frame, env: Env, test: ast.Compare, outcome: bool) -> None:
    match test:
        case ast.Compare(
            left=subject, ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Constant(value=None)]
        ):
            wanted = isinstance(op, ast.Is) == outcome
            _keep(frame, env, subject, lambda v: (v is NONE) == wanted)
        case ast.Compare(
            left=ast.Call(func=ast.Name(id="type"), args=[subject]),
            ops=[ast.Is() | ast.IsNot() | ast.Eq() | ast.NotEq() as op],
            comparators=[kind],
        ) if isinstance(op, (ast.Is, ast.Eq)) == outcome:
            _instance(frame, env, subject, kind, True)


def _names_is_tensor(frame: Frame, func: ast.expr) -> bool:
    value = frame.body.values.get(func)
    return isinstance(value, External) and value.name == "torch.is_tensor"


def _keep(
    frame: Frame,
    env: Env,
    subject: ast.expr,
    wanted: Callable[[Value], bool],
    instead: Value | None = None,
) -> None:
    if isinstance(subject, ast.NamedExpr):
        subject = subject.target
    path = path_of(subject)
    value = frame.body.values.get(subject) if path not in env else env[path]
    if path is None or value is None:
        return
    if isinstance(value, Unknown):
        if instead is not None and wanted(instead):
            _track(frame, env, path, instead)
        return
    kept = [option for option in options(value) if wanted(option)]
    if kept:
        _track(frame, env, path, join(kept))


def _track(frame: Frame, env: Env, path: str, value: Value) -> None:
    env[path] = value
    frame.tracked.add(path.partition(".")[0])


def _instance(frame: Frame, env: Env, subject: ast.expr, types: ast.expr, outcome: bool) -> None:
    nodes = types.elts if isinstance(types, ast.Tuple) else [types]
    tests = [type_test(frame.body.values.get(node)) for node in nodes]
    if any(test is None for test in tests):
        if outcome and not any(_is_of_torch(frame.body.values.get(node)) for node in nodes):
            _forget_guess(frame, env, subject)
        return

    def matches(value: Value) -> bool:
        return any(test(value) for test in tests if test)

    known = frame.body.values.get(nodes[0])
    instead: Value | None = None
    if outcome and isinstance(known, External) and known.name in TENSOR_TYPES:
        instead = Tensor()
    elif outcome and isinstance(known, External) and known.name.startswith("builtins."):
        instead = Static(known.name.removeprefix("builtins."))
    _keep(frame, env, subject, lambda v: matches(v) == outcome, instead)


def _is_of_torch(value: Value | None) -> bool:
    """True for the classes that are tensors or hold them."""
    return isinstance(value, External) and value.name.startswith("torch.")


def _forget_guess(frame: Frame, env: Env, subject: ast.expr) -> None:
    """What is of a type that is not known, and was merely taken for a tensor, may be anything."""
    path = path_of(subject)
    value = frame.body.values.get(subject) if path not in env else env[path]
    guess = isinstance(value, Tensor) and value.assumed
    if path is not None and guess:
        _track(frame, env, path, UNKNOWN)


def type_test(value: Value | None) -> Callable[[Value], bool] | None:
    """The test that one class of an ``isinstance`` stands for; None when it is not known."""
    match value:
        case External(name=name):
            return _outside_test(name)
        case Class(info=info):
            return lambda v: isinstance(v, (Object, Tensor)) and v.cls is info
    return None


_DECIDABLE: Final = (Tensor, Sequence, Mapping, Static, SymInt, DataScalar)


def instance_verdict(value: Value, types: Value | None) -> bool | None:
    """Whether ``isinstance(value, types)`` is certain; None when it is not."""
    members = types.items if isinstance(types, Sequence) and types.items is not None else (types,)
    tests = [type_test(member) for member in members]
    kinds = list(options(value))
    if not all(isinstance(kind, _DECIDABLE) and kind != STATIC for kind in kinds):
        return None
    hits = {any(test is not None and test(kind) for test in tests) for kind in kinds}
    if hits == {True}:
        return True
    special = any(isinstance(kind, Tensor) and kind.cls is not None for kind in kinds)
    return False if hits == {False} and all(tests) and not special else None


def _outside_test(name: str) -> Callable[[Value], bool] | None:
    if name in TENSOR_TYPES:
        return lambda v: isinstance(v, Tensor)
    if name == "numpy.ndarray":
        return lambda v: isinstance(v, NDArray)
    kind = name.removeprefix("builtins.") if name.startswith("builtins.") else ""
    if kind == "dict":
        return lambda v: isinstance(v, Mapping)
    if kind in {"list", "tuple"}:
        return lambda v: (
            (isinstance(v, Sequence) and v.type.startswith(kind))
            or (isinstance(v, DataScalar) and v.type == kind)
        )
    if kind == "int":
        return lambda v: isinstance(v, SymInt) or _static_of(v, "int", "bool")
    if kind in {"float", "bool", "str"}:
        return lambda v: _static_of(v, kind)
    return None


def _static_of(value: Value, *types: str) -> bool:
    return isinstance(value, Static) and (value.type in types or value == STATIC)


def number_of(pattern: ast.pattern) -> ast.expr | None:
    """The number that a pattern compares the subject with, or the first of several."""
    match pattern:
        case ast.MatchValue(value=number):
            constant = isinstance(number, ast.Constant) and isinstance(number.value, (int, float))
            return number if constant else None
        case ast.MatchOr(patterns=patterns):
            return next(filter(None, map(number_of, patterns)), None)
    return None


def matched(subject: Value, pattern: ast.pattern) -> bool | None:
    """Whether a value matches a pattern; None when that is not known."""
    match pattern:
        case ast.MatchAs(pattern=None):
            return True
        case ast.MatchAs(pattern=ast.pattern() as inner):
            return matched(subject, inner)
        case ast.MatchSingleton(value=constant):
            known = isinstance(subject, Static) and subject.known
            return subject.value is constant if known and isinstance(subject, Static) else None
        case ast.MatchOr(patterns=patterns):
            verdicts = [matched(subject, inner) for inner in patterns]
            return True if True in verdicts else None if None in verdicts else False
    return None
