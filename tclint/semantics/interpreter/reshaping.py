"""Calls that give a tensor another shape in place: the ranks known before hold no longer."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.semantics.lattice import join
from tclint.semantics.syntax import ATTRIBUTE, NAME
from tclint.semantics.values import Iteration, Mapping, Sequence, Tensor, Union, Value
from tclint.torch_facts.elements import RESHAPING_IN_PLACE

if TYPE_CHECKING:
    from tclint.semantics.interpreter.frame import Frame

CONTENT: Final = frozenset(("data", "__dict__"))
"""Attributes by which a tensor takes another one's content."""


def reshapes(call: ast.Call) -> bool:
    """True for a call that may give a tensor another shape: ``t.resize_(4)``, ``out=t``."""
    function = call.func
    for keyword in call.keywords:
        if keyword.arg == "out":
            return True
    if isinstance(function, ATTRIBUTE):
        if function.attr in RESHAPING_IN_PLACE:
            return True
        sets = function.attr == "__setattr__"
    else:
        sets = isinstance(function, NAME) and function.id == "setattr"
    return sets and any(isinstance(a, ast.Constant) and a.value in CONTENT for a in call.args)


def forget_shapes(frame: Frame) -> None:
    """Let go of the rank of every variable: each may be another name of the tensor."""
    function = frame.body.function
    if function is not None:
        frame.analysis.reshaping.add(function)
    for path, value in frame.env.items():
        frame.env[path] = _without_shape(value)


def _without_shape(value: Value) -> Value:
    if isinstance(value, Tensor):
        return value.changed(rank=None)
    if isinstance(value, Sequence):
        items = None if value.items is None else tuple(map(_without_shape, value.items))
        return Sequence(value.type, _without_shape(value.element), items)
    if isinstance(value, Mapping):
        pairs = tuple((key, _without_shape(item)) for key, item in value.items)
        return Mapping(pairs, _without_shape(value.element))
    if isinstance(value, Iteration):
        return Iteration(_without_shape(value.element), value.source)
    if isinstance(value, Union):
        return join([_without_shape(option) for option in value.options])
    return value
