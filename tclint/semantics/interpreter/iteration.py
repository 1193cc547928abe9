"""What a ``for`` loop draws from a value."""

from __future__ import annotations

from typing import Final

from tclint.semantics.interpreter.operators import elements
from tclint.semantics.lattice import join, options
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import ATTRIBUTE, NAME, last_name
from tclint.semantics.values import (
    UNKNOWN,
    DataScalar,
    Iteration,
    Mapping,
    NDArray,
    NumpyScalar,
    Object,
    Sequence,
    Static,
    Tensor,
    Union,
    Value,
)

_TUPLE: Final = "NamedTuple"


def element_of(value: Value) -> Value:
    """One element of an iterable."""
    if type(value) is not Union:
        return _element(value)
    return join([_element(option) for option in options(value)])


def is_named_tuple(cls: ClassInfo | None) -> bool:
    """True for a class that says that it is a ``typing.NamedTuple``."""
    if cls is None:
        return False
    return any(
        isinstance(base, (NAME, ATTRIBUTE)) and last_name(base) == _TUPLE for base in cls.bases
    )


def as_tuple(value: Value) -> Value:
    """A named tuple as what it holds; anything else as it is."""
    if isinstance(value, Object) and value.fields is not None and is_named_tuple(value.cls):
        return Sequence("tuple", items=tuple(held for _, held in value.fields))
    return value


def _element(value: Value) -> Value:
    value = as_tuple(value)
    match value:
        case Iteration(element=element):
            return element
        case Sequence():
            return elements(value)
        case Tensor():
            return row_of(value)
        case NDArray():
            return NumpyScalar(from_loop=True)
        case Mapping():
            return Static()
        case Object(name="torch.optim.param_groups"):
            return Object("torch.optim.param_group", site=value.site)
        case DataScalar():
            return DataScalar()
        case Static(type="str"):
            return Static("str")
        case Static():
            return Static()
    return UNKNOWN


def row_of(tensor: Tensor) -> Tensor:
    """A tensor indexed once along its first dimension."""
    return Tensor(
        rank=tensor.rank - 1 if tensor.rank else None,
        dtype=tensor.dtype,
        device=tensor.device,
        assumed=tensor.assumed,
        why="row of a tensor",
    )


def loop_source(value: Value) -> str:
    """Where a loop's elements come from: ``numpy``, ``tensor``, ``shape``, ``data``, ``other``."""
    sources = {_source(option) for option in options(value)}
    return sources.pop() if len(sources) == 1 else "other"


def _source(value: Value) -> str:
    match value:
        case Iteration(source=source):
            return source
        case NDArray():
            return "numpy"
        case Tensor():
            return "tensor"
    return "other"
