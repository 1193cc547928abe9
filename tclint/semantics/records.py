"""The decorator of the analysis's small records.

The analysis may be compiled with mypyc (see ``setup.py``), which makes classes native; slotted
dataclasses cannot be, and a decorator that it does not know stops it. It also takes ``==`` between
two such records for identity: those that are compared so live in files that are not compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @dataclass_transform(field_specifiers=(field,))
    def record(*, frozen: bool = False, eq: bool = True) -> Callable[[type[T]], type[T]]:
        """See tclint/records.py."""

else:
    from tclint.records import record

__all__ = ["record"]
