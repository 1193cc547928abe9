"""Count what would make the CPU wait for a GPU, without having one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

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


class SyncCounter(TorchDispatchMode):
    """Records the operators that copy a value to the host on a GPU."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Note the operator, then run it."""
        name = func._schema.name.partition("::")[2]  # type: ignore[attr-defined]
        if name in WAITING or _reads_mask(name, args):
            self.seen.append(name)
        return func(*args, **(kwargs or {}))


def _reads_mask(name: str, args: tuple[Any, ...]) -> bool:
    if name not in {"index", "index_put", "index_put_"}:
        return False
    masks = (torch.bool, torch.uint8)
    masked = any(isinstance(i, torch.Tensor) and i.dtype in masks for i in args[1])
    return masked and (name == "index" or args[2].numel() != 1)
