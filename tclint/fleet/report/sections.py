"""The tables of a fleet's report, the same in every format for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tclint.fleet.board import Board, Cause, Total, Worth
from tclint.fleet.changes import Change
from tclint.fleet.units import FAILED, NOTHING, WHOLE, Measured
from tclint.records import record

_CAUSES_SHOWN = 20
"""In each arm, those that the most targets have."""
_TARGETS_SHOWN = 5
_CHANGES_SHOWN = 20
"""The worse ones come first."""


@record(frozen=True)
class Section:
    """A table with its title; ``numbers`` are the columns whose cells are figures."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()
    note: str = ""


def sections(board: Board) -> tuple[Section, ...]:
    """All tables that have something to say."""
    made = (
        _arms(board),
        *_changes(board),
        *_worth(board),
        *_causes(board),
        *_failures(board),
        _targets(board),
    )
    return tuple(section for section in made if section.rows)


def heading(board: Board) -> str:
    """Which run this is."""
    run = board.run
    label = f", {run.label}" if run.label else ""
    state = f"finished {_moment(run.finished)}" if run.finished else "not finished"
    return f"run {run.id}{label}: started {_moment(run.started)}, {state}"


def change_section(title: str, found: Sequence[Change]) -> Section:
    """The table of what changed."""
    rows = tuple((one.kind.value, one.target, one.arm, one.what) for one in found)
    return Section(title, ("change", "target", "arm", "what"), rows)


def cell(measured: Measured | None) -> str:
    """What became of a unit, in a few words."""
    if measured is None:
        return "not measured yet"
    if measured.outcome == FAILED:
        return f"{FAILED}: {measured.failure}"
    if measured.outcome == NOTHING:
        return "nothing compiled"
    parts = [_state(measured)]
    if measured.verdict == "different":
        parts.append("results differ")
    elif measured.verdict == "not-deterministic":
        parts.append("not deterministic")
    if measured.recompiles:
        parts.append(f"{measured.recompiles} recompile{'' if measured.recompiles == 1 else 's'}")
    if measured.exported:
        parts.append("no export")
    speed = next((one.speedup for one in measured.speeds if one.speedup is not None), None)
    if speed is not None:
        parts.append(f"{speed:.2f}x")
    return ", ".join(parts)


def _state(measured: Measured) -> str:
    now = len(measured.breaks)
    if measured.outcome == WHOLE and not measured.breaks_before:
        return "one graph"
    if measured.breaks_before is not None and measured.breaks_before != now:
        return f"{measured.breaks_before} → {now} breaks"
    return f"{now} break{'' if now == 1 else 's'}"


def share(part: int, of: int) -> str:
    """A count with its share in percent."""
    return f"{part} ({part / of:.0%})" if of else "0"


def _moment(text: str) -> str:
    return text[:16].replace("T", " ") + " UTC" if text else ""


def _arms(board: Board) -> Section:
    head = (
        "arm", "torch", "targets", "one graph", "with breaks", "breaks", "nothing", "fail",
        "differ",
        *(["speedup"] if any(total.speedup for total in board.totals) else []),
    )  # fmt: skip
    rows = tuple(tuple(_arm(total))[: len(head)] for total in board.totals)
    note = ""
    if missing := sum(total.missing for total in board.totals):
        note = f"{missing} unit{'' if missing == 1 else 's'} not measured yet"
    return Section("Arms", head, rows, tuple(range(2, len(head))), note)


def _arm(total: Total) -> Iterator[str]:
    yield total.arm.name
    yield total.arm.torch
    yield str(total.targets)
    ran = total.targets - total.missing
    yield share(total.whole, ran)
    yield str(total.broken)
    yield str(total.breaks)
    yield str(total.nothing)
    yield str(total.failed)
    yield str(total.differing)
    yield "" if total.speedup is None else f"{total.speedup:.2f}x"


def _changes(board: Board) -> Iterator[Section]:
    if board.before is None:
        return
    section = change_section(f"Changes since run {board.before.id}", board.changes[:_CHANGES_SHOWN])
    more = len(board.changes) - len(section.rows)
    note = f"{more} more: tclint fleet diff {board.before.id} {board.run.id} lists them all"
    yield replace(section, note=note if more else "")


def _worth(board: Board) -> Iterator[Section]:
    head = (
        "arm",
        "targets with fixes",
        "fixes",
        "breaks",
        "now one graph",
        "results differ",
        "rules",
    )
    rows = tuple(tuple(_worth_row(one)) for one in board.worth if one.targets)
    yield Section("What fixes are worth", head, rows, (1, 2, 3, 4, 5))


def _worth_row(one: Worth) -> Iterator[str]:
    yield one.arm
    yield str(one.targets)
    yield str(one.fixes)
    yield f"{one.before} → {one.after}"
    yield str(one.whole)
    yield str(one.unequal)
    yield ", ".join(f"{code} {count}" for code, count in one.rules)


def _causes(board: Board) -> Iterator[Section]:
    head = ("arm", "id", "rule", "targets", "breaks", "reason")
    of_arms = [[one for one in board.causes if one.arm == total.arm.name] for total in board.totals]
    shown = [one for causes in of_arms for one in causes[:_CAUSES_SHOWN]]
    left = len(board.causes) - len(shown)
    note = f"{left} rarer cause{' is' if left == 1 else 's are'} left out" if left else ""
    yield Section("Why graphs break", head, tuple(map(_cause, shown)), (3, 4), note)


def _cause(one: Cause) -> tuple[str, ...]:
    return (one.arm, one.gb_id, one.rule or "none", str(one.targets), str(one.breaks), one.reason)


def _failures(board: Board) -> Iterator[Section]:
    rows = []
    for one in board.failures:
        names = ", ".join(one.targets[:_TARGETS_SHOWN])
        more = len(one.targets) - _TARGETS_SHOWN
        shown = f"{names} and {more} more" if more > 0 else names
        rows.append((one.arm, one.kind, one.reason, shown))
    yield Section("What did not run", ("arm", "kind", "reason", "targets"), tuple(rows))


def _targets(board: Board) -> Section:
    arms = tuple(total.arm.name for total in board.totals)
    rows = tuple((row.target, *map(cell, row.cells)) for row in board.rows)
    return Section("Targets", ("target", *arms), rows)
