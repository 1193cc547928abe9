"""Calls that give a tensor another shape in place: the ranks known before hold no longer."""

from __future__ import annotations

import ast
import operator
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
        if frame.shapeless.get(path) is not value:
            frame.env[path] = frame.shapeless[path] = _without_shape(value)


def _without_shape(value: Value) -> Value:
    """The value without ranks; itself where it has none."""
    if isinstance(value, Tensor):
        return value if value.rank is None else value.changed(rank=None)
    if isinstance(value, Sequence):
        element = _without_shape(value.element)
        items = [_without_shape(item) for item in value.items or ()]
        if element is value.element and all(map(operator.is_, items, value.items or ())):
            return value
        return Sequence(value.type, element, None if value.items is None else tuple(items))
    if isinstance(value, Mapping):
        element = _without_shape(value.element)
        pairs = [(key, _without_shape(item)) for key, item in value.items]
        kept = (new[1] is old[1] for new, old in zip(pairs, value.items, strict=True))
        if element is value.element and all(kept):
            return value
        return Mapping(tuple(pairs), element)
    if isinstance(value, Iteration):
        element = _without_shape(value.element)
        return value if element is value.element else Iteration(element, value.source)
    if isinstance(value, Union):
        options = [_without_shape(option) for option in value.options]
        return value if all(map(operator.is_, options, value.options)) else join(options)
    return value
