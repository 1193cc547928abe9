"""The decorator of small records: to type checkers a dataclass, and cheap to define.

A run defines more than a hundred of them before it looks at the first file. What refuses changes of
a frozen one, and what shows one, would take half of that time: type checkers do the former, and the
latter is one function for all.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as record
else:

    def record(
        *, frozen: bool = False, eq: bool = True, order: bool = False
    ) -> Callable[[type], type]:
        """A slotted dataclass; one that type checkers see as frozen hashes as it compares."""

        def define(cls: type) -> type:
            if "__repr__" not in cls.__dict__:
                cls.__repr__ = _shown
            return dataclass(slots=True, eq=eq, order=order, repr=False, unsafe_hash=frozen and eq)(
                cls
            )

        return define


def _shown(self: Any) -> str:
    parts = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


__all__ = ["record"]
