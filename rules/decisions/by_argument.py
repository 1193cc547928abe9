"""Calls that Dynamo traces or not, depending on what they are given."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.semantics.collect import dotted_name
from tclint.semantics.lattice import options
from tclint.semantics.values import Class, External, Mapping, Object, Sequence, Tensor, Value

Refused = tuple[str, str]
"""The id of a graph break, and of what the call was that breaks the graph."""


def refused_for(function: str, value: Value) -> Refused | None:
    """How a call of one of `BY_ARGUMENT` with a value breaks the graph; None where it does not.

    Each was compiled on torch 2.13: copies of Python's own objects are traced, of tensors not.
    """
    return next(filter(None, map(BY_ARGUMENT[function], options(value))), None)


def _shallow(value: Value) -> Refused | None:
    if isinstance(value, Tensor):
        return "GB0208", "a tensor"
    if isinstance(value, Object) and value.is_module:
        return "GB0008", "a module"
    if isinstance(value, Mapping):
        return "GB0007", "a dict"
    if isinstance(value, Sequence) and value.type != "tuple":
        return "GB0007", f"a {value.type}"
    return None


def _deep(value: Value) -> Refused | None:
    if isinstance(value, Tensor):
        return "GB4198", "a tensor"
    if isinstance(value, Object) and value.is_module:
        return "GB4198", "a module"
    parts: tuple[Value, ...] = ()
    if isinstance(value, Sequence):
        parts = value.items or (value.element,)
    elif isinstance(value, Mapping):
        parts = (*(part for _, part in value.items), value.element)
    if any(_deep(kind) for part in parts for kind in options(part)):
        return "GB4198", "what holds tensors"
    return _of_fields(value)


def _of_fields(value: Value) -> Refused | None:
    """``dataclasses.asdict`` and ``astuple`` copy what they find in the fields."""
    if not isinstance(value, Object) or value.cls is None:
        return None
    module = value.cls.module
    kinds = (item.annotation for item in value.cls.node.body if isinstance(item, ast.AnnAssign))
    tensors = any(dotted_name(module, kind) == "torch.Tensor" for kind in kinds)
    return ("GB4198", "what holds tensors") if tensors else None


def _class(value: Value) -> Refused | None:
    return ("GB0180", "a class") if isinstance(value, Class) else None


def _tensor(value: Value) -> Refused | None:
    return ("GB0156", "a tensor") if isinstance(value, Tensor) else None


def _plain_tensor(value: Value) -> Refused | None:
    return ("GB0001", "`torch.Tensor`") if value == External("torch.Tensor") else None


BY_ARGUMENT: Final[dict[str, Callable[[Value], Refused | None]]] = {
    "copy.copy": _shallow,
    "copy.deepcopy": _deep,
    "dataclasses.asdict": _of_fields,
    "dataclasses.astuple": _of_fields,
    "dataclasses.fields": _class,
    "object.__delattr__": _tensor,
    "object.__setattr__": _tensor,
    "torch.Tensor.as_subclass": _plain_tensor,
}
"""Functions by their dotted names, and how one alternative of their argument breaks the graph."""
