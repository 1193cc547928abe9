"""Functions that are given to torch and functools, which call them where they are called.

Dynamo traces what activation checkpointing, ``torch.func`` and ``functools`` call.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.semantics.interpreter.arguments import Arguments
from tclint.semantics.interpreter.callables import call_value
from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.interpreter.given import reduced
from tclint.semantics.interpreter.iteration import element_of
from tclint.semantics.lattice import spread
from tclint.semantics.values import UNKNOWN, Function, Object, Sequence, Value

_WITH_ANYTHING: Final = Arguments(exact=False)
_KEPT: Final = frozenset(
    {
        "use_reentrant",
        "preserve_rng_state",
        "context_fn",
        "determinism_check",
        "debug",
        "early_stop",
    }
)
"""Keywords that checkpointing does not pass on."""


def call_higher_order(frame: Frame, node: ast.Call, name: str, arguments: Arguments) -> Value:
    """What a function gives that a library's function ``name`` calls; Unknown for all others."""
    caller = _CALLERS.get(name)
    if caller is None or frame.region is None or not arguments.positional:
        return UNKNOWN
    return caller(frame, node, arguments)


def _call(frame: Frame, node: ast.Call, function: Value, arguments: Arguments) -> Value:
    def call(kind: Value) -> Value:
        known = isinstance(kind, (Function, Object))
        return call_value(frame, node, kind, arguments) if known else UNKNOWN

    return spread(call, function)


def _checkpoint(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    function, *given = arguments.positional
    passed = {name: value for name, value in arguments.keywords.items() if name not in _KEPT}
    return _call(frame, node, function, Arguments(tuple(given), passed, arguments.exact))


def _functional(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    module, *rest = arguments.positional
    given = rest[1] if len(rest) > 1 else UNKNOWN
    if isinstance(given, Sequence):
        exact = given.items is not None and len(rest) == 2 and "kwargs" not in arguments.keywords
        return _call(frame, node, module, Arguments(given.items or (), exact=exact))
    return _call(frame, node, module, _WITH_ANYTHING)


def _reduce(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    if len(arguments.positional) < 2:
        return UNKNOWN
    function, members, *start = arguments.positional
    member = element_of(members)
    return reduced(frame, node, function, start[0] if start else member, member)


def _partial(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    function, *given = arguments.positional
    _call(frame, node, function, Arguments(tuple(given), arguments.keywords, exact=False))
    return UNKNOWN


def _transformed(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """What ``vmap`` and its kin make is called with what nobody knows."""
    _call(frame, node, arguments.positional[0], _WITH_ANYTHING)
    return UNKNOWN


def _applied(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    """``vjp`` calls with the primals that follow."""
    function, *primals = arguments.positional
    _call(frame, node, function, Arguments(tuple(primals), exact=arguments.exact))
    return UNKNOWN


def _cond(frame: Frame, node: ast.Call, arguments: Arguments) -> Value:
    _, *branches = arguments.positional[:3]
    operands = arguments.positional[3] if len(arguments.positional) > 3 else UNKNOWN
    items = operands.items if isinstance(operands, Sequence) else None
    given = Arguments(items) if items is not None else _WITH_ANYTHING
    for branch in branches:
        _call(frame, node, branch, given)
    return UNKNOWN


_CALLERS: Final[dict[str, Callable[[Frame, ast.Call, Arguments], Value]]] = {
    "functools.partial": _partial,
    "functools.reduce": _reduce,
    "torch.cond": _cond,
    "torch.func.functional_call": _functional,
    "torch.func.vjp": _applied,
    "torch.nn.utils.stateless.functional_call": _functional,
    "torch.utils.checkpoint.checkpoint": _checkpoint,
    "torch.vmap": _transformed,
    **{
        f"torch.func.{name}": _transformed
        for name in ("grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vmap")
    },
}
