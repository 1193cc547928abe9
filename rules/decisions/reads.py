"""Reads of a tensor that carry no name of their own: why they read, and what does not."""

from __future__ import annotations

from typing import Final

WHAT: Final = {
    "size": "torch needs a number there",
    "sizes": "the places to split at have to be numbers",
    "slice": "a slice needs numbers",
    "index": "a Python sequence is indexed by numbers",
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
    "equal": "`(a == b).all()` stays on the device",
    "allclose": "`torch.isclose(a, b).all()` stays on the device",
    "is_nonzero": "`x != 0` stays on the device",
}
