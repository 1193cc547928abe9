"""The decorator of small records: to type checkers a dataclass, and cheap to define.

A run defines more than a hundred of them before it looks at the first file. What refuses changes
of a frozen one, and the code that a dataclass writes and compiles to make, show and compare
objects, would take most of that time. Type checkers refuse the changes, the code that makes objects
is written for the first object of a class, and the rest are functions for all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
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
                init=False,
                eq=eq and not compares,
                order=order,
                repr=False,
                unsafe_hash=frozen and eq and not compares,
            )(cls)
            made.__init__ = _first_init(made)
            return _comparing(made, hashes=frozen) if compares else made

        return define


def _first_init(cls: Any) -> Callable[..., None]:
    """What makes the first object of a class, and has the others made by code of its own."""

    def __init__(self: object, *args: object, **named: object) -> None:  # noqa: N807
        cls.__init__ = _written_init(cls)
        cls.__init__(self, *args, **named)

    return __init__


def _written_init(cls: Any) -> Callable[..., None]:
    """``__init__`` as a dataclass writes it: a parameter for each field that has one."""
    known: dict[str, Any] = {"_MISSING": MISSING}
    parameters, body = ["self"], []
    for field in fields(cls):
        name, value = field.name, field.name
        known[f"_{name}"] = field.default
        if field.default_factory is not MISSING:
            known[f"_{name}"] = field.default_factory
            value = f"_{name}() if {name} is _MISSING else {name}" if field.init else f"_{name}()"
            parameters += [f"{name}=_MISSING"] if field.init else []
        elif field.init:
            parameters.append(name if field.default is MISSING else f"{name}=_{name}")
        elif field.default is not MISSING:
            value = f"_{name}"
        else:
            continue
        body.append(f" self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append(" self.__post_init__()")
    lines = [f"def __init__({', '.join(parameters)}):", *(body or [" pass"])]
    exec("\n".join(lines), known)
    made: Callable[..., None] = known["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


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
