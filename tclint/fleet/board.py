"""What a run says, as plain data for every report: who compiles whole, and what keeps the rest."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import geometric_mean

from tclint.fleet.changes import Change, changes
from tclint.fleet.config import FleetError
from tclint.fleet.store import ArmRow, RunRow, Store, UnitRow
from tclint.fleet.units import BREAKS, FAILED, NOTHING, WHOLE, Measured
from tclint.records import record


@record(frozen=True)
class Total:
    """What became of the targets in one arm; ``missing`` ones have no result yet."""

    arm: ArmRow
    targets: int
    whole: int
    broken: int
    nothing: int
    failed: int
    missing: int
    breaks: int
    differing: int
    speedup: float | None


@record(frozen=True)
class Row:
    """One target with its result in each arm, in the order of the arms."""

    target: str
    cells: tuple[Measured | None, ...]


@record(frozen=True)
class Cause:
    """Why graphs break in one arm: the id that Dynamo prints, and the rule that sees it."""

    arm: str
    gb_id: str
    rule: str
    reason: str
    breaks: int
    targets: int


@record(frozen=True)
class Failed:
    """Why targets did not run in one arm."""

    arm: str
    kind: str
    reason: str
    targets: tuple[str, ...]


@record(frozen=True)
class Worth:
    """What fixes are worth in one arm, over the targets that have some.

    ``whole`` are targets that compile whole with them and did not before; ``unequal`` ones do not
    compute the same with them.
    """

    arm: str
    targets: int
    fixes: int
    before: int
    after: int
    whole: int
    unequal: int
    rules: tuple[tuple[str, int], ...]


@record(frozen=True)
class Board:
    """A run with all that reports tell of it, and what changed since the one before it."""

    run: RunRow
    totals: tuple[Total, ...]
    rows: tuple[Row, ...]
    causes: tuple[Cause, ...]
    failures: tuple[Failed, ...]
    worth: tuple[Worth, ...]
    before: RunRow | None
    changes: tuple[Change, ...]


def board(store: Store, number: int | None = None) -> Board:
    """The board of a run, of the last one if no number is given.

    Raises:
        FleetError: there is no such run.
    """
    runs = store.runs()
    run = find_run(runs, number)
    units = store.units(run.id)
    arms = store.arms(run.id)
    before = next((one for one in reversed(runs) if one.id < run.id and one.finished), None)
    changed = changes(store.units(before.id), units) if before is not None else ()
    return Board(
        run,
        tuple(_total(arm, units) for arm in arms),
        _rows(arms, units),
        tuple(cause for arm in arms for cause in _causes(arm.name, units)),
        tuple(one for arm in arms for one in _failures(arm.name, units)),
        tuple(_worth(arm.name, units) for arm in arms if arm.fixed),
        before,
        tuple(changed),
    )


def find_run(runs: Sequence[RunRow], number: int | None) -> RunRow:
    """One run, the last if no number is given.

    Raises:
        FleetError: there is no such run.
    """
    if not runs:
        raise FleetError("the store has no run; `tclint fleet run` makes one")
    if number is None:
        return runs[-1]
    found = next((run for run in runs if run.id == number), None)
    if found is None:
        raise FleetError(f"there is no run {number}: the store has {runs[0].id} to {runs[-1].id}")
    return found


def _total(arm: ArmRow, units: Iterable[UnitRow]) -> Total:
    mine = [unit.measured for unit in units if unit.arm == arm.name]
    ran = [one for one in mine if one is not None]
    outcomes = Counter(one.outcome for one in ran)
    ratios = [s.speedup for one in ran for s in one.speeds[:1] if s.speedup is not None]
    return Total(
        arm,
        len(mine),
        outcomes[WHOLE],
        outcomes[BREAKS],
        outcomes[NOTHING],
        outcomes[FAILED],
        len(mine) - len(ran),
        sum(len(one.breaks) for one in ran),
        sum(one.verdict == "different" for one in ran),
        geometric_mean(ratios) if ratios else None,
    )


def _rows(arms: Sequence[ArmRow], units: Iterable[UnitRow]) -> tuple[Row, ...]:
    """The targets, those that break the most graphs first, what is whole at the end."""
    cells: dict[str, dict[str, Measured | None]] = defaultdict(dict)
    for unit in units:
        cells[unit.target][unit.arm] = unit.measured
    rows = [
        Row(target, tuple(found.get(arm.name) for arm in arms)) for target, found in cells.items()
    ]
    return tuple(sorted(rows, key=_rank))


def _rank(row: Row) -> tuple[int, int, str]:
    worst = min((_ORDER.get(one.outcome, 0) for one in row.cells if one is not None), default=0)
    return worst, -sum(len(one.breaks) for one in row.cells if one is not None), row.target


_ORDER: Mapping[str, int] = {FAILED: 0, NOTHING: 1, BREAKS: 2, WHOLE: 3}


def _causes(arm: str, units: Iterable[UnitRow]) -> list[Cause]:
    lines: Counter[tuple[str, str]] = Counter()
    targets: dict[tuple[str, str], set[str]] = defaultdict(set)
    reasons: dict[tuple[str, str], str] = {}
    for unit in units:
        if unit.arm == arm and unit.measured is not None:
            for one in unit.measured.breaks:
                cause = (one.gb_id, one.rule)
                lines[cause] += 1
                targets[cause].add(unit.target)
                reasons.setdefault(cause, one.reason)
    causes = [
        Cause(arm, *cause, reasons[cause], count, len(targets[cause]))
        for cause, count in lines.items()
    ]
    return sorted(causes, key=lambda one: (-one.targets, -one.breaks, one.gb_id, one.rule))


def _failures(arm: str, units: Iterable[UnitRow]) -> list[Failed]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for unit in units:
        if unit.arm == arm and unit.measured is not None and unit.measured.outcome == FAILED:
            found[unit.measured.failure, unit.measured.reason].append(unit.target)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return [Failed(arm, kind, reason, tuple(names)) for (kind, reason), names in ordered]


def _worth(arm: str, units: Iterable[UnitRow]) -> Worth:
    fixed = [
        unit.measured
        for unit in units
        if unit.arm == arm and unit.measured is not None and unit.measured.fixes
    ]
    rules = Counter(code for one in fixed for code in one.fixes)
    return Worth(
        arm,
        len(fixed),
        rules.total(),
        sum(one.breaks_before or 0 for one in fixed),
        sum(len(one.breaks) for one in fixed),
        sum(one.outcome == WHOLE and bool(one.breaks_before) for one in fixed),
        sum(one.verdict == "different" for one in fixed),
        tuple(rules.most_common()),
    )
