"""What Dynamo has no constant for: tensors, objects, and what holds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.interpreter.frame import Frame
from tclint.semantics.lattice import options
from tclint.semantics.syntax import nodes
from tclint.semantics.values import (
    BoundExternal,
    Function,
    Mapping,
    NDArray,
    Object,
    Sequence,
    Tensor,
    Value,
)

_PLAIN_BASES: Final = frozenset({"object", "abc.ABC", "typing.Generic", "typing.Protocol"})


def traced(frame: Frame, value: Value) -> str | None:
    """``"tensor"`` or ``"object"`` for what is one in some case, or holds one; None for others.

    Classes that inherit from something else (``Enum``, ``str``) may well be constants.
    """
    kinds = (_kind(frame, option) for option in options(value))
    found = [kind for kind in kinds if kind is not None]
    return "object" if "object" in found else next(iter(found), None)


def _kind(frame: Frame, value: Value) -> str | None:
    match value:
        case Tensor() | NDArray():
            return "tensor"
        case Object():
            return "object" if _is_plain(frame, value) else None
        case Sequence(type="ModuleList" | "Sequential"):
            return "object"
        case Sequence() | Mapping():
            kinds = {traced(frame, part) for part in _parts(value)}
            return "object" if "object" in kinds else "tensor" if "tensor" in kinds else None
    return None


def _is_plain(frame: Frame, value: Object) -> bool:
    if value.cls is None or value.is_module:
        return value.is_module
    foreign = [b for b in frame.analysis.project.ancestry(value.cls) if isinstance(b, str)]
    return _PLAIN_BASES.issuperset(foreign)


def _parts(value: Sequence | Mapping) -> Iterator[Value]:
    if isinstance(value, Sequence):
        yield from (value.element,) if value.items is None else value.items
    else:
        yield from (part for _, part in value.items)
        yield value.element


def closes_over(frame: Frame, function: Value) -> bool:
    """True for a function that reads such a value of the functions around it, or is bound to one.

    Dynamo makes a constant of any other.
    """
    for option in options(function):
        if isinstance(option, BoundExternal) and traced(frame, option.owner) is not None:
            return True
        if isinstance(option, Function) and _reads_traced(frame, option):
            return True
    return False


def _reads_traced(frame: Frame, function: Function) -> bool:
    node = function.info.node
    if node not in frame.analysis.closures:
        return False
    own = {part.arg for part in nodes(node) if isinstance(part, ast.arg)}
    names = {name for name in frame.analysis.names_in(node) if name not in own}
    around = (frame.enclosed(name) for name in names)
    return any(value is not None and traced(frame, value) is not None for value in around)
