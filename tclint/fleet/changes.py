"""What became better and what worse from one run, or arm, to another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum

from tclint.fleet.store import UnitRow
from tclint.fleet.units import BREAKS, FAILED, NOTHING, WHOLE, BreakLine, Measured
from tclint.records import record


class Kind(Enum):
    """Which way a target went."""

    WORSE = "worse"
    BETTER = "better"
    OTHER = "other"
    """It is new or gone, or breaks elsewhere."""


@record(frozen=True)
class Change:
    """What became of one target in one arm, in words."""

    kind: Kind
    target: str
    arm: str
    what: str


def changes(old: Iterable[UnitRow], new: Iterable[UnitRow]) -> list[Change]:
    """The differences of two runs, by target and arm, the worse ones first.

    A unit that one of them has not measured yet is left out.
    """
    before = {(unit.target, unit.arm): unit.measured for unit in old}
    after = {(unit.target, unit.arm): unit.measured for unit in new}
    return _compared(before, after)


def arm_changes(old: Iterable[UnitRow], new: Iterable[UnitRow], name: str) -> list[Change]:
    """The differences of two arms, by target; ``name`` is what the pair is called."""
    before = {(unit.target, name): unit.measured for unit in old}
    after = {(unit.target, name): unit.measured for unit in new}
    return _compared(before, after)


_Results = Mapping[tuple[str, str], Measured | None]
_WORST = (WHOLE, BREAKS, NOTHING, FAILED)
_SHOWN = 3
"""Causes of new breaks that are told, and rows of each."""


def _compared(before: _Results, after: _Results) -> list[Change]:
    found: list[Change] = []
    for name in sorted({*before, *after}):
        if name not in before or name not in after:
            what = "is new" if name not in before else "is gone"
            found.append(Change(Kind.OTHER, *name, what))
            continue
        old, new = before[name], after[name]
        if old is not None and new is not None:
            found += [Change(kind, *name, what) for kind, what in _differences(old, new)]
    order = list(Kind)
    return sorted(found, key=lambda one: (order.index(one.kind), one.target, one.arm))


def _differences(old: Measured, new: Measured) -> Iterable[tuple[Kind, str]]:
    if FAILED in {old.outcome, new.outcome}:
        if old.outcome != new.outcome:
            gone = new.outcome == FAILED
            said = f"does not run any more: {new.reason}" if gone else "runs again"
            yield (Kind.WORSE if gone else Kind.BETTER), said
        elif old.failure != new.failure:
            yield Kind.OTHER, f"fails in another way: {new.failure}: {new.reason}"
        return
    yield from _breaks(old, new)
    if (old.verdict == "different") != (new.verdict == "different"):
        worse = new.verdict == "different"
        said = f"results differ: {new.detail}" if worse else "results are the same again"
        yield (Kind.WORSE if worse else Kind.BETTER), said
    if new.recompiles != old.recompiles:
        worse = new.recompiles > old.recompiles
        yield (
            Kind.WORSE if worse else Kind.BETTER,
            f"recompiles {_times(new.recompiles)} instead of {_times(old.recompiles)}",
        )
    asked = old.exported is not None and new.exported is not None
    if asked and bool(old.exported) != bool(new.exported):
        said = f"cannot be exported: {new.exported}" if new.exported else "can be exported"
        yield (Kind.WORSE if new.exported else Kind.BETTER), said
    yield from _speeds(old, new)


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def _breaks(old: Measured, new: Measured) -> Iterable[tuple[Kind, str]]:
    worse = _WORST.index(new.outcome) - _WORST.index(old.outcome)
    more = len(new.breaks) - len(old.breaks)
    if worse or more:
        kind = Kind.WORSE if (worse or more) > 0 else Kind.BETTER
        appeared = _lines(new.breaks, old.breaks) if more > 0 else ""
        yield kind, f"{_state(old)} → {_state(new)}{appeared}"
    elif appeared := _lines(new.breaks, old.breaks):
        yield Kind.OTHER, f"breaks elsewhere{appeared}"


def _state(one: Measured) -> str:
    if one.outcome == BREAKS:
        count = len(one.breaks)
        return f"{count} graph break{'' if count == 1 else 's'}"
    return {WHOLE: "one graph", NOTHING: "nothing compiled"}[one.outcome]


def _lines(new: Iterable[BreakLine], old: Iterable[BreakLine]) -> str:
    """The breaks that are new, by what broke: their lines move when a file is edited."""
    added = Counter(map(_cause, new)) - Counter(map(_cause, old))
    rows: dict[tuple[str, str, str], list[int]] = {}
    for one in new:
        if added[_cause(one)]:
            rows.setdefault(_cause(one), []).append(one.row)
    told = [
        f"{place}:{_first(rows[place, gb_id, reason], ', ')} {gb_id} {reason}"
        for place, gb_id, reason in rows
    ]
    return f" ({_first(told, '; ')})" if told else ""


def _first(values: Sequence[object], comma: str) -> str:
    """The first few of some, and how many more there are."""
    shown = comma.join(map(str, values[:_SHOWN]))
    more = len(values) - _SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def _cause(one: BreakLine) -> tuple[str, str, str]:
    return one.place, one.gb_id, one.reason


def _speeds(old: Measured, new: Measured) -> Iterable[tuple[Kind, str]]:
    """A mode whose speedup left the interval that it had."""
    was = {one.mode: one for one in old.speeds}
    for one in new.speeds:
        then = was.get(one.mode)
        if then is None or one.low is None or one.high is None:
            continue
        if then.low is None or then.high is None:
            continue
        is_now, was_then = f"{one.low:.2f} to {one.high:.2f}", f"{then.low:.2f} to {then.high:.2f}"
        said = f"{one.mode}: the speedup is {is_now}, was {was_then}"
        if one.high < then.low:
            yield Kind.WORSE, said
        elif one.low > then.high:
            yield Kind.BETTER, said
