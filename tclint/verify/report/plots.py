"""The plots of one target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from html import escape
from pathlib import Path

from tclint.files import read_bytes
from tclint.report.rounded import rounded
from tclint.verify.events import Break
from tclint.verify.report.charts import Bar, Mark, Stack, bars, stacks, timeline
from tclint.verify.report.numbers import size
from tclint.verify.results import Arm, TargetReport
from tclint.verify.speed import Speed, Timing


def plots(report: TargetReport, base: Path) -> Iterator[str]:
    """Break timelines, times, compile phases and memory, each where there is something to show."""
    yield from _timelines(report, base)
    yield from _ranks(report)
    timed = [(arm, speed) for arm in report.arms for speed in arm.speeds]
    if not timed:
        return
    yield "<h3>Milliseconds per call, with the quartiles</h3>"
    yield bars(list(_times(report, timed)))
    phased = [(arm, speed) for arm, speed in timed if speed.phases]
    if phased:
        yield "<h3>Cold start by compiler layer</h3>"
        yield stacks([_phases(report, arm, speed) for arm, speed in phased])
    memory = list(_memory(report, timed))
    if memory:
        yield "<h3>Peak memory of one call</h3>"
        yield bars(memory)


def _timelines(report: TargetReport, base: Path) -> Iterator[str]:
    for arm in report.arms:
        if arm.probe is None:
            continue
        by_file: dict[str, list[Break]] = defaultdict(list)
        for one in arm.probe.user_breaks:
            by_file[one.filename].append(one)
        for filename, found in sorted(by_file.items()):
            path = Path(filename)
            shown = path.relative_to(base) if path.is_relative_to(base) else Path(path.name)
            heading = escape(f"Breaks along {shown}{_of(report, arm)}")
            marks = [Mark(one.row, f"{one.row}: {one.gb_id} {one.reason}") for one in found]
            yield f"<h3>{heading}</h3>"
            yield timeline(marks, _rows(path))


def _ranks(report: TargetReport) -> Iterator[str]:
    found = report.distributed
    if found is None or not found.scaling:
        return
    drawn = []
    for one in found.scaling:
        colour = "one" if one.form == "eager" else "two"
        shown = f"{rounded(one.alone, 3)} ms"
        drawn.append(Bar(f"{one.form}, alone", one.alone, shown, colour))
        for rank in found.ranks:
            timing = rank.eager if one.form == "eager" else rank.compiled
            if timing is not None:
                drawn.append(_bar(f"{one.form}, rank {rank.rank}", timing, colour))
    yield f"<h3>Milliseconds per call on {found.size} ranks ({escape(found.parallel)})</h3>"
    yield bars(drawn)


def _times(report: TargetReport, timed: list[tuple[Arm, Speed]]) -> Iterator[Bar]:
    # The arms of one mode took turns with eager code; another mode had its own race.
    for mode in dict.fromkeys(speed.mode for _, speed in timed):
        racing = [(arm, speed) for arm, speed in timed if speed.mode == mode]
        arm, first = racing[0]
        beside = "" if len(racing) == len(timed) else f" beside {mode}"
        yield _bar(f"eager{beside}{_of(report, arm)}", first.eager, "one")
        for arm, speed in racing:
            colour = "two" if arm is report.after else "four"
            yield _bar(f"{_mode(report, speed)}{_of(report, arm)}", speed.compiled, colour)


def _bar(label: str, timing: Timing, colour: str) -> Bar:
    shown = f"{rounded(timing.median, 3)} ms"
    return Bar(label, timing.median, shown, colour, timing.lower, timing.upper)


def _phases(report: TargetReport, arm: Arm, speed: Speed) -> Stack:
    parts = tuple((phase.name, phase.seconds) for phase in speed.phases)
    label = f"{_mode(report, speed)}{_of(report, arm)}"
    return Stack(label, parts, f"{sum(value for _, value in parts):.1f} s")


def _memory(report: TargetReport, timed: list[tuple[Arm, Speed]]) -> Iterator[Bar]:
    first = timed[0][1].eager_memory
    # On a CPU only the whole process is known, which says nothing about one call.
    if first.allocated is None:
        return
    yield Bar("eager", first.allocated, size(first.allocated), "one")
    for arm, speed in timed:
        label = f"{_mode(report, speed)}{_of(report, arm)}"
        for name, count, colour in (
            (label, speed.memory.allocated, "two"),
            (f"{label}, reserved", speed.memory.reserved, "four"),
        ):
            if count is not None:
                yield Bar(name, count, size(count), colour)


def _mode(report: TargetReport, speed: Speed) -> str:
    many = len({one.mode for arm in report.arms for one in arm.speeds}) > 1
    return speed.mode if many else "compiled"


def _of(report: TargetReport, arm: Arm) -> str:
    return f", {arm.name}" if len(report.arms) > 1 else ""


def _rows(path: Path) -> int:
    try:
        return read_bytes(path).count(b"\n")
    except OSError:
        return 1
