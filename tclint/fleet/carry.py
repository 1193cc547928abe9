"""Carry units out, and start again what was ended from outside."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from tclint.fleet.units import KILLED, LOST, Measured, Unit

if TYPE_CHECKING:
    from tclint.fleet.local import LocalCrew

TRIES: Final = 5
"""How often a unit is started that somebody else ends: a machine may be lost more than once."""


def carry_out(units: Iterable[Unit], crew: LocalCrew) -> Iterator[tuple[Unit, Measured]]:
    """Every unit once, with its result, as they are done.

    What was ended from outside is started again. What fails by itself would fail again, and is not.
    """
    waiting = deque(units)
    tries: Counter[tuple[str, str]] = Counter()
    running = 0
    while running or waiting:
        while waiting and crew.has_room(waiting[0]):
            crew.start(waiting.popleft())
            running += 1
        for unit, measured in crew.wait():
            running -= 1
            name = (unit.target, unit.arm)
            tries[name] += 1
            if measured.failure in {KILLED, LOST} and tries[name] < TRIES:
                waiting.appendleft(unit)
                continue
            del tries[name]
            yield unit, measured
