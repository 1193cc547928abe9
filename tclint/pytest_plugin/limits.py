"""What compiled code may do in a test, and what it did: plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tclint.records import record

NAMES = ("breaks", "recompiles", "graphs", "syncs")
_ONE = {"breaks": "break", "recompiles": "recompile", "graphs": "graph", "syncs": "host sync"}


@record(frozen=True)
class Counts:
    """What the compiled code of one test did; ``syncs`` is None where there is no GPU."""

    breaks: int = 0
    recompiles: int = 0
    graphs: int = 0
    syncs: int | None = None

    def as_dict(self) -> dict[str, int]:
        """By name; what is not known is left out."""
        found = {name: getattr(self, name) for name in NAMES}
        return {name: value for name, value in found.items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Counts:
        """The inverse of :meth:`as_dict`.

        Raises:
            TypeError, ValueError: it made no such thing.
        """
        if not isinstance(data, Mapping):
            raise TypeError(f"{data!r} are no counts")
        return cls(**{name: int(data[name]) for name in NAMES if name in data})


@record(frozen=True)
class Limits:
    """At most so many of each; None: as many as you like."""

    breaks: int | None = 0
    recompiles: int | None = 0
    graphs: int | None = None
    syncs: int | None = None

    def exceeded(self, counts: Counts) -> tuple[str, ...]:
        """What is above its limit, in words; that nothing at all was compiled is too."""
        if counts.graphs == 0:
            return ("nothing was compiled in this test",)
        found = []
        for name in NAMES:
            limit, count = getattr(self, name), getattr(counts, name)
            if limit is not None and count is not None and count > limit:
                noun = _ONE[name] + ("" if count == 1 else "s")
                found.append(f"{count} {noun}, allowed: {limit}")
        return tuple(found)


def limits_of(given: Mapping[str, int | None], known: Counts | None) -> Limits:
    """The limits that a mark gives; what the budget knows to be worse is let through."""
    marked = Limits(**given)
    if known is None:
        return marked
    raised: dict[str, int | None] = {}
    for name in NAMES:
        limit, was = getattr(marked, name), getattr(known, name)
        raised[name] = max(limit, was) if limit is not None and was is not None else limit
    return Limits(**raised)
