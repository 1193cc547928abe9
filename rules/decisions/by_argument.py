"""Calls that Dynamo traces or not, depending on what they are given."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Final

from tclint.semantics.collect import dotted_name
from tclint.semantics.lattice import options
from tclint.semantics.values import Class, External, Mapping, Object, Sequence, Tensor, Value
from tclint.torch_api import Skipped


def refused_for(function: str, value: Value) -> Skipped | None:
    """How a call of one of `BY_ARGUMENT` with a value breaks the graph; None where it does not.

    Each was compiled on torch 2.13: copies of Python's own objects are traced, of tensors not.
    """
    return next(filter(None, map(BY_ARGUMENT[function], options(value))), None)


def _shallow(value: Value) -> Skipped | None:
    if isinstance(value, Tensor):
        return Skipped("GB0208")
    if isinstance(value, Object) and value.is_module:
        return Skipped("GB0008")
    if isinstance(value, Mapping) or (isinstance(value, Sequence) and value.type != "tuple"):
        return Skipped("GB0007")
    return None


def _deep(value: Value) -> Skipped | None:
    if isinstance(value, Tensor) or (isinstance(value, Object) and value.is_module):
        return Skipped("GB4198")
    parts: tuple[Value, ...] = ()
    if isinstance(value, Sequence):
        parts = value.items or (value.element,)
    elif isinstance(value, Mapping):
        parts = (*(part for _, part in value.items), value.element)
    found = (_deep(kind) for part in parts for kind in options(part))
    return next(filter(None, found), _of_fields(value))


def _of_fields(value: Value) -> Skipped | None:
    """``dataclasses.asdict`` and ``astuple`` copy what they find in the fields."""
    if not isinstance(value, Object) or value.cls is None:
        return None
    module = value.cls.module
    kinds = (item.annotation for item in value.cls.node.body if isinstance(item, ast.AnnAssign))
    tensors = any(dotted_name(module, kind) == "torch.Tensor" for kind in kinds)
    return Skipped("GB4198") if tensors else None


def _class(value: Value) -> Skipped | None:
    return Skipped("GB0180") if isinstance(value, Class) else None


def _plain_tensor(value: Value) -> Skipped | None:
    return Skipped("GB0001") if value == External("torch.Tensor") else None


BY_ARGUMENT: Final[dict[str, Callable[[Value], Skipped | None]]] = {
    "copy.copy": _shallow,
    "copy.deepcopy": _deep,
    "dataclasses.asdict": _of_fields,
    "dataclasses.astuple": _of_fields,
    "dataclasses.fields": _class,
    "torch.Tensor.as_subclass": _plain_tensor,
}
"""Functions by their dotted names, and how one alternative of their argument breaks the graph."""
