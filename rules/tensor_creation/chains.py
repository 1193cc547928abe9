"""Tensors that are moved to a device only after they have been shaped or cast."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Final

from tclint.semantics.events import TensorFactory

# Not `expand`: the copy that `.to(...)` makes of an expanded tensor is no view.
_KEEPING: Final = frozenset(
    "unsqueeze squeeze view reshape repeat transpose permute flatten t contiguous "
    "float double half bfloat16 int long bool".split()
)


def moved_later(event: TensorFactory) -> TensorFactory:
    """The event with the `.to(...)` or `.cuda()` that comes after `.unsqueeze(0)` and its like."""
    if event.moved is not None:
        return event
    node: ast.expr = event.call
    while True:
        attribute = event.site.parent(node)
        call = event.site.parent(attribute) if isinstance(attribute, ast.Attribute) else None
        if not isinstance(attribute, ast.Attribute) or not isinstance(call, ast.Call):
            return event
        if call.func is not attribute:
            return event
        if attribute.attr in ("to", "cuda") and node is not event.call:
            return replace(event, moved=call, destination=_destination(call))
        if attribute.attr not in _KEEPING:
            return event
        node = call


def is_shaped(event: TensorFactory) -> bool:
    """True where something stands between the factory and the move."""
    moved = event.moved
    return moved is not None and getattr(moved.func, "value", None) is not event.call


def _destination(call: ast.Call) -> ast.expr | None:
    if call.args:
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "device"), None)
