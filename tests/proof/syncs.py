"""Count what would make the CPU wait for a GPU, without having one."""

from __future__ import annotations

from typing import Any

import torch

from .operators import OperatorCounter, name_of

WAITING = frozenset(
    {
        "_local_scalar_dense",
        "_unique2",
        "bincount",
        "is_nonzero",
        "masked_select",
        "nonzero",
        "repeat_interleave",
        "unique_consecutive",
        "unique_dim",
    }
)


class SyncCounter(OperatorCounter):
    """Records the operators that copy a value to the host on a GPU."""

    def counts(self, schema: Any, args: tuple[Any, ...]) -> bool:
        """True for those that always do, and for masks that are read."""
        name = name_of(schema)
        return name in WAITING or _reads_mask(name, args)


def _reads_mask(name: str, args: tuple[Any, ...]) -> bool:
    if name not in {"index", "index_put", "index_put_"}:
        return False
    masks = (torch.bool, torch.uint8)
    masked = any(isinstance(i, torch.Tensor) and i.dtype in masks for i in args[1])
    return masked and (name == "index" or args[2].numel() != 1)
