"""One run of a fleet: plan, take what is known, measure the rest, write each result down."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tclint.fleet.carry import carry_out
from tclint.fleet.config import Fleet
from tclint.fleet.plan import Plan, Trees, holds, planned, with_code
from tclint.fleet.store import Known, Store, driving, open_store
from tclint.fleet.units import KILLED, LOST, Measured, Unit
from tclint.records import record

if TYPE_CHECKING:
    from tclint.fleet.local import LocalCrew

Tell = Callable[[int, int, Unit, Measured], None]
"""Is told how many units are done, of how many, and the last one with its result."""
CrewFor = Callable[[Plan], "LocalCrew"]
"""Makes the crew for a plan; it ends with the block."""

_BY_LIMITS = ("timeout", "out-of-memory")


@record(frozen=True)
class Again:
    """What to measure again although it is known: all, or what failed."""

    everything: bool = False
    failures: bool = False


@record(frozen=True)
class Ran:
    """A run: its number, how many units were measured, and how many were known."""

    run: int
    measured: int
    known: int


def run_fleet(fleet: Fleet, crew_for: CrewFor, again: Again, label: str, tell: Tell) -> Ran:
    """Run a fleet, or go on with a run that was killed."""
    with (
        driving(fleet.store),
        open_store(fleet.store, create=True) as store,
        planned(fleet) as (plan, trees),
    ):
        return run_plan(plan, trees, store, crew_for, again, label, tell)


def run_plan(
    plan: Plan,
    trees: Trees,
    store: Store,
    crew_for: CrewFor,
    again: Again,
    label: str,
    tell: Tell,
) -> Ran:
    """Measure what is not known of a plan."""
    run = store.begin(plan, label)
    done = _done(run, plan, store, trees)
    for unit, measured in plan.hopeless:
        if (unit.target, unit.arm) not in done:
            store.keep(run, unit, with_code(unit, measured, trees))
    left = [unit for unit in plan.units if (unit.target, unit.arm) not in done]
    known = [] if again.everything else [*_known(left, store, trees, again)]
    store.reuse(run, known)
    found = {(unit.target, unit.arm) for unit, _ in known}
    todo = [unit for unit in left if (unit.target, unit.arm) not in found]
    count = 0
    if todo:
        with crew_for(plan) as crew:
            for unit, measured in carry_out(todo, crew):
                store.keep(run, unit, with_code(unit, measured, trees))
                count += 1
                tell(count, len(todo), unit, measured)
    store.finish(run)
    return Ran(run, count, len(plan.all_units) - count)


def _done(run: int, plan: Plan, store: Store, trees: Trees) -> set[tuple[str, str]]:
    """What the run has already, if it goes on: of code that is as it was."""
    units = {(unit.target, unit.arm): unit for unit in plan.all_units}
    return {name for name, known in store.done(run) if holds(units[name], known.code, trees)}


def _known(
    units: Sequence[Unit], store: Store, trees: Trees, again: Again
) -> Iterator[tuple[Unit, int]]:
    """The units that were measured before, of the same code, with the numbers of the results."""
    for unit in units:
        result = known_result(unit, store, trees, again)
        if result is not None:
            yield unit, result


def known_result(unit: Unit, store: Store, trees: Trees, again: Again) -> int | None:
    """The number of the newest result that holds for a unit; None if it is to be measured."""
    for known in store.known(unit.key):
        if not _is_outdated(known, unit, again) and holds(unit, known.code, trees):
            return known.result
    return None


def _is_outdated(known: Known, unit: Unit, again: Again) -> bool:
    """Whether a failure is to be tried again: it was asked for, or the limits are wider now."""
    if not known.failure:
        return False
    if again.failures or known.failure in {KILLED, LOST}:
        return True
    limits = unit.measures
    wider = limits.time_limit > known.time_limit or (
        known.memory_limit != 0 and not 0 < limits.memory_limit <= known.memory_limit
    )
    return known.failure in _BY_LIMITS and wider


def visible_gpus(count: int) -> tuple[str, ...]:
    """The names of the GPUs that this process may use, as CUDA_VISIBLE_DEVICES has them."""
    named = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    names = named.split(",") if named else map(str, range(count))
    return tuple(names)[:count]
