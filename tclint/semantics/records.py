"""The decorator of the analysis's small records.

The analysis may be compiled with mypyc (see ``setup.py``), which makes classes native; slotted
dataclasses cannot be, and a decorator that it does not know stops it. It also takes ``==`` between
two such records for identity: those that are compared so live in files that are not compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(field_specifiers=(field,))
    def record(*, frozen: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
        """See below."""

else:

    def record(*, frozen: bool = False, eq: bool = True) -> Callable[[type], type]:
        """A slotted dataclass; one that type checkers see as frozen hashes as it compares.

        Millions of them are made in a run, and making a truly frozen one costs four times as much.
        """
        return dataclass(slots=True, eq=eq, unsafe_hash=frozen and eq)


__all__ = ["record"]
