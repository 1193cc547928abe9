"""Record the operators that run, as far as they count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode


class OperatorCounter(TorchDispatchMode):
    """Records the names of the operators that ``counts`` picks."""

    def __init__(self) -> None:
        """Start with nothing seen."""
        super().__init__()
        self.seen: list[str] = []

    def counts(self, schema: Any, args: tuple[Any, ...]) -> bool:
        """Whether a call of an operator counts."""
        raise NotImplementedError

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Note the operator, then run it."""
        schema = func._schema  # type: ignore[attr-defined]
        if self.counts(schema, args):
            self.seen.append(name_of(schema))
        return func(*args, **(kwargs or {}))


def name_of(schema: Any) -> str:
    """An operator's name without its namespace."""
    return str(schema.name).partition("::")[2]
