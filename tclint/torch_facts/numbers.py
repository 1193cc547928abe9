"""Which arguments torch needs as Python numbers: a tensor that is given there is read."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from tclint.records import record
from tclint.torch_facts.table import section


@record(frozen=True)
class Numbers:
    """The places and names of arguments that are numbers, or several of them.

    From ``onward`` on, all are: ``x.view(2, 3)``. A method's places do not count its tensor.
    """

    places: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    onward: int | None = None

    def at(self, place: int) -> bool:
        """Whether the argument at a place is a number."""
        return place in self.places or (self.onward is not None and place >= self.onward)


_NONE: Final = Numbers()


@lru_cache(maxsize=1024)
def numbers_of(key: str) -> Numbers:
    """The numbers among the arguments of a function (dotted) or of a tensor's method (bare)."""
    told: str | None = section("numbers").get(key)
    if told is None:
        return _NONE
    places, _, names = told.partition("|")
    exact = [int(place) for place in places.split() if not place.endswith("+")]
    onward = [int(place[:-1]) for place in places.split() if place.endswith("+")]
    return Numbers(frozenset(exact), frozenset(names.split()), onward[0] if onward else None)
