"""What compares by content: like a frozen dataclass, and native where mypyc compiles it."""

from __future__ import annotations

Fields = tuple[object, ...]


class ByContent:
    """Base of immutable things that are equal where their types and contents are."""

    __slots__ = ()

    def _content(self) -> Fields:
        # What two of the same type must have in common to be equal.
        return ()

    def __eq__(self, other: object) -> bool:
        """Compare type and content."""
        if self is other:
            return True
        return type(self) is type(other) and self._content() == other._content()

    def __hash__(self) -> int:
        """Hash the content."""
        return hash(self._content())

    def __repr__(self) -> str:
        """The type and the attributes."""
        names = [n for n in dir(self) if n[0] != "_" and not callable(getattr(type(self), n))]
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in names)})"
