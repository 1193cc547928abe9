"""Reads of a tensor that carry no name of their own: what reads, and what does not."""

from __future__ import annotations

import ast
from typing import Final

from tclint.semantics.events import HostRead
from tclint.semantics.lattice import may_be_tensor, tensor_in

WHAT: Final = {
    "given": "a function that is passed on reads `{}` in Python",
    "number": "torch needs a number where the tensor `{}` stands",
    "slice": "a slice needs a number where the tensor `{}` stands",
    "index": "a Python sequence is indexed by the tensor `{}`",
    "row": "the tensor `{}` has no dimensions and is read as an index",
    "equal": "`{}` is read to answer with a `bool`",
    "allclose": "`{}` is read to answer with a `bool`",
    "is_nonzero": "`{}` is read to answer with a `bool`",
    "cov": "the data of `{}` is looked at",
    "corrcoef": "the data of `{}` is looked at",
    "branch": "the data of `{}` is looked at",
}
WAY_OUT: Final = {
    "given": "compute with whole tensors: `torch.stack` the members",
    "number": "take sizes from shapes, or pass the number in as an argument",
    "slice": "mask what lies outside: `torch.arange(len(x), device=x.device) < n`",
    "index": "stack the members and use `torch.index_select`",
    "row": "`x[i.reshape(1)].squeeze(0)` stays on the device",
    "equal": "`(a == b).all()` stays on the device",
    "allclose": "`torch.isclose(a, b).all()` stays on the device",
    "is_nonzero": "`x != 0` stays on the device",
}


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
