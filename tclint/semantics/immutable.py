"""The decorator of the analysis's small immutable records."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as value_class
else:
    from dataclasses import dataclass

    def value_class(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """A dataclass that type checkers see as frozen and hash as one.

        Millions of them are made in a run, and making a truly frozen one costs four times as much.
        """
        return dataclass(slots=slots, unsafe_hash=frozen)


__all__ = ["value_class"]
