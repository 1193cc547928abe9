"""How sure a finding is, from how sure the analysis is of the values behind its event."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence
from tclint.semantics.events import (
    DynamicShape,
    Event,
    HostRead,
    Loop,
    TensorAssert,
    TensorBranch,
    TensorIndex,
    TensorWrite,
)
from tclint.semantics.lattice import options
from tclint.semantics.values import Tensor, Value


def confidence_of(event: Event) -> Confidence:
    """High where values are proved; lower where a parameter was taken for a tensor, or a flag.

    It is lower, too, for what is a tensor on some paths only.
    """
    if event.site.facts.default_off:
        return Confidence.LOW
    some = isinstance(event, (HostRead, TensorBranch)) and event.sometimes
    return Confidence.MEDIUM if some or _assumed(event) else Confidence.HIGH


def _assumed(event: Event) -> bool:
    match event:
        case (
            HostRead(tensor=tensor)
            | TensorIndex(tensor=tensor)
            | DynamicShape(tensor=tensor)
            | TensorWrite(tensor=tensor)
        ):
            return tensor.assumed
        case Loop(iterable=node):
            tensors = _tensors(event.site.value(node))
            return any(tensor.assumed for tensor in tensors)
        case TensorBranch(test=node) | TensorAssert(statement=ast.Assert(test=node)):
            parts = (event.site.value(part) for part in ast.walk(node))
            tensors = [tensor for part in parts for tensor in _tensors(part)]
            return bool(tensors) and all(tensor.assumed for tensor in tensors)
    return False


def _tensors(value: Value) -> list[Tensor]:
    return [option for option in options(value) if isinstance(option, Tensor)]
