"""How sure a finding is, from how sure the analysis is of the values behind its event."""

from __future__ import annotations

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
from tclint.semantics.values import Tensor, options


def confidence_of(event: Event) -> Confidence:
    """High where values are proved; lower where a parameter was taken for a tensor, or a flag."""
    if event.site.facts.default_off:
        return Confidence.LOW
    return Confidence.MEDIUM if _assumed(event) else Confidence.HIGH


def _assumed(event: Event) -> bool:
    match event:
        case (
            HostRead(tensor=tensor)
            | TensorIndex(tensor=tensor)
            | DynamicShape(tensor=tensor)
            | TensorWrite(tensor=tensor)
        ):
            return tensor.assumed
        case TensorBranch(test=node) | Loop(iterable=node):
            value = event.site.value(node)
        case TensorAssert(statement=statement):
            value = event.site.value(statement.test)
        case _:
            return False
    return any(isinstance(option, Tensor) and option.assumed for option in options(value))
