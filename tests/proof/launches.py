"""Count the operators that run, each of which is a kernel or more on a GPU."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class LaunchCounter(TorchDispatchMode):
    """Records the operators that compute or write something; views do neither."""

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
        schema = func._schema  # type: ignore[attr-defined]
        if not any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns):
            self.seen.append(schema.name.partition("::")[2])
        return func(*args, **(kwargs or {}))
