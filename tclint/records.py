"""The decorator of small records: to type checkers a dataclass, and cheap to define.

A run defines more than a hundred of them before it looks at the first file. What refuses changes
of a frozen one, and the code that a dataclass writes and compiles to show and compare objects,
would take most of that time: type checkers do the former, and the latter are functions for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(
        *, frozen: bool = False, eq: bool = True, order: bool = False
    ) -> Callable[[type], type]:
        """A slotted dataclass; one that type checkers see as frozen hashes as it compares."""

        def define(cls: type) -> type:
            if "__repr__" not in cls.__dict__:
                cls.__repr__ = _shown
            if not cls.__doc__:  # or the dataclass works one out of its signature
                cls.__doc__ = cls.__name__
            compares = eq and not order and "__eq__" not in cls.__dict__
            made = dataclass(
                slots=True,
                eq=eq and not compares,
                order=order,
                repr=False,
                unsafe_hash=frozen and eq and not compares,
            )(cls)
            return _comparing(made, hashes=frozen) if compares else made

        return define


def _comparing(cls: Any, *, hashes: bool) -> Any:
    """The class, equal and hashed by its fields as a dataclass's objects are."""
    names = [field.name for field in fields(cls) if field.compare]
    content: Callable[[object], object] = attrgetter(*names) if names else _nothing

    def equals(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return content(self) == content(other)

    def hashed(self: object) -> int:
        return hash(content(self))

    cls.__eq__ = equals
    cls.__hash__ = hashed if hashes else cls.__dict__.get("__hash__")
    return cls


def _nothing(_: object) -> tuple[()]:
    return ()


def _shown(self: Any) -> str:
    parts = (f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


__all__ = ["record"]
