"""Reads of a tensor that carry no name of their own: why they read, and what does not."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import HostRead
from tclint.semantics.lattice import may_be_tensor, tensor_in

WHAT: Final = {
    "size": "torch needs a number there",
    "sizes": "the places to split at have to be numbers",
    "slice": "a slice needs numbers",
    "index": "a Python sequence is indexed by numbers",
    "row": "an index without dimensions is taken for a number",
    "equal": "it answers with a `bool`",
    "allclose": "it answers with a `bool`",
    "is_nonzero": "it answers with a `bool`",
    "cov": "it looks at the data",
    "corrcoef": "it looks at the data",
    "branch": "it looks at the data",
}
WAY_OUT: Final = {
    "size": "take sizes from shapes, or pass the number in as an argument",
    "sizes": "pass the places in as a list of numbers",
    "slice": "mask what lies outside: `torch.arange(len(x), device=x.device) < n`",
    "index": "stack the members and use `torch.index_select`",
    "row": "`x[i.reshape(1)].squeeze(0)` stays on the device",
    "equal": "`(a == b).all()` stays on the device",
    "allclose": "`torch.isclose(a, b).all()` stays on the device",
    "is_nonzero": "`x != 0` stays on the device",
}
# The ends of a range of numbers may be tensors, and so may the parameters of a distribution.
_TENSORS_ALLOWED = frozenset({"linspace", "logspace", "normal", "full"})


def kind_of(event: HostRead) -> str:
    """How a value is read: ``"row"`` where a tensor is indexed, not a list."""
    node = event.node
    if event.via != "index" or not isinstance(node, ast.Subscript):
        return event.via
    return "row" if may_be_tensor(event.site.value(node.value)) else "index"


def member(event: HostRead) -> ast.expr:
    """The tensor itself where it stands among other sizes."""
    if isinstance(event.source, (ast.Tuple, ast.List)):
        for part in event.source.elts:
            if tensor_in(event.site.value(part)) is not None:
                return part
    return event.source


def takes_tensor(event: HostRead, call: ast.Call) -> bool:
    """True for a call whose arguments may be tensors where others need numbers."""
    function = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if event.via == "sizes":
        return not any(tensor_in(event.site.value(argument)) for argument in call.args)
    return event.via == "size" and function in _TENSORS_ALLOWED
