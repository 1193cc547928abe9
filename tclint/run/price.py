"""What each line costs in a step, as far as a recording can tell.

Where a GPU worked, nothing is gained by host work that the GPU does not wait for: a line can give
back at most the time in which the GPU idles because of it. After an operation that waits for the
GPU that is the time until its next kernel starts; else it is the line's share of the host's time,
as often as the GPU was idle. Without a GPU a line costs the time that the host spends there.
A break costs the way into the graphs that it makes, and out of them, too. No time is counted for
two lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tclint.diagnostics import Effect
from tclint.lint.rule import SpentIn
from tclint.records import record
from tclint.run.events import Kind, frames, libraries_of
from tclint.run.gpu import Activity
from tclint.run.host import Key, Part, Work, work_of
from tclint.run.intervals import NOTHING, Interval, of_median, of_share
from tclint.run.kernels import within_waits
from tclint.run.lines import Line
from tclint.run.outlook import KernelClasses
from tclint.run.own_code import own_file
from tclint.run.recorded import Recorded, Steps
from tclint.run.sampled import loop_of
from tclint.run.switches import Switches
from tclint.verify.break_text import read_break, user_frame


@record(frozen=True)
class Price:
    """Milliseconds of a step that a line costs at most, and the parts of it.

    ``host`` is work that the GPU waits for, ``waits`` the GPU's idling because the line waited for
    it, ``gpu`` what the GPU runs because of it.
    """

    total: Interval
    host: Interval = NOTHING
    waits: Interval = NOTHING
    gpu: Interval = NOTHING

    def worth(self, step: Interval) -> bool:
        """Whether it is more than the step's own spread, so that a remedy could be noticed."""
        spread = max(step.high - step.value, step.value - step.low)
        return self.total.low > 0 and self.total.value > max(spread, _LEAST * step.value)

    def drowned(self, step: Interval) -> bool:
        """Whether it would be worth something if steps did not differ by more than that."""
        large = self.total.low > 0 and self.total.value > _LEAST * step.value
        return large and not self.worth(step)


_FLOAT32 = "matmul float32"
_LEAST = 0.005
"""The share of a step below which nobody could measure a difference."""
FREE = Price(NOTHING)


@record(frozen=True)
class Prices:
    """The price of each line, what the host works at, and what other kernels would save at most."""

    by_key: Mapping[Key, Price]
    work: Work
    kernels: KernelClasses | None = None


def step_times(steps: Steps) -> Interval:
    """Milliseconds of a step: the median of those after the warm-up that no window slowed."""
    return of_median(quiet_steps(steps))


def quiet_steps(steps: Steps) -> list[float]:
    """Milliseconds of each step after the warm-up that no window slowed; of all if none is left."""
    return [*loop_of(steps).times.values()]


def prices(
    one: Recorded,
    lines: Sequence[Line],
    activity: Activity | None,
    graphs: Switches | None,
    step: Interval,
    kernels: KernelClasses | None = None,
) -> Prices:
    """The price of each of the lines in one process, and of what else the host works at.

    What is around the graphs that breaks make is shared by the lines that break.
    """
    keys = _rows(one, lines)
    waits_there = frozenset(
        (line.filename, line.row)
        for line in lines
        if not (line.spent_in is not SpentIn.LINE or _works_on_the_host(line))
    )
    loaders = [(line.filename, line.row) for line in lines if line.spent_in is SpentIn.LOADING]
    work = work_of(one, keys, waits_there, loads=bool(loaders))
    bounded = within_waits(kernels, _waiting(one, work, activity))
    waits = _waits(one, activity, keys)
    gpu = _on_gpu(one, activity, keys)
    most = max(step.value, work.seen.mean)
    factor = 1.0 if activity is None else _idle_without_waits(activity, step.value)

    def on_host(ms: float) -> Interval:
        return work.of(ms) * factor

    parts = Counter(line.spent_in for line in lines)
    breaking = [line for line in lines if line.breaks]
    around = NOTHING if graphs is None else graphs.of_breaks(one, step.value) * factor
    found = {}
    for line in lines:
        key = line.filename, line.row
        spent = work.known.get(key, 0.0) if _works_on_the_host(line) else 0.0
        if line.spent_in is SpentIn.OPTIMIZER:
            spent = work.part(Part.OPTIMIZER) / parts[line.spent_in]
        elif line.spent_in is SpentIn.LOADING:
            spent = work.loading / parts[line.spent_in]
        elif line.spent_in is SpentIn.FLOAT32_MATMUL:
            spent = 0.0
        host = on_host(spent)
        if line in breaking:
            host += around * (1 / len(breaking))
        computed = gpu.get(key, NOTHING)
        if line.spent_in is SpentIn.FLOAT32_MATMUL:
            computed = _float32(bounded)
        found[key] = _price(host, waits.get(key, NOTHING), computed, most)
    for key, beside in work.beside.items():
        host, known = on_host(beside.ms), found.get(key, FREE)
        found[key] = _price(known.host + host, known.waits, known.gpu, most)
    return Prices(found, work, bounded)


def _float32(kernels: KernelClasses | None) -> Interval:
    """What a lower precision would save of a step's matmuls at most."""
    classes = () if kernels is None else kernels.classes
    saves = sum(one.saves for one in classes if one.name.startswith(_FLOAT32))
    return Interval(saves, saves, saves)


def _price(host: Interval, waits: Interval, gpu: Interval, most: float) -> Price:
    total = (host + waits + gpu).at_most(most)
    return Price(total, host.at_most(most), waits, gpu)


def _works_on_the_host(line: Line) -> bool:
    """Whether a remedy would save the host's time at a line, and not only its waiting."""
    if line.finding is not None:
        return line.finding.effect is not Effect.HOST_SYNC
    return any(event.kind in {Kind.BREAK, Kind.EAGER} for event in line.events)


def _on_gpu(
    one: Recorded, activity: Activity | None, keys: Mapping[Key, Key]
) -> dict[Key, Interval]:
    """Milliseconds of kernels that run outside of graphs because a line breaks the graph.

    All breaks of one frame share what it runs there.
    """
    if activity is None:
        return {}
    libraries = libraries_of(one.process)
    places: dict[str, dict[Key, None]] = {}
    for entry in one.breaks:
        found = read_break(entry.text, libraries)
        key = keys.get((found.filename, found.row))
        if key is not None and not found.by_torch:
            places.setdefault(entry.compile_id.partition("/")[0], {})[key] = None
    spent: dict[Key, Interval] = {}
    for outside in activity.outside:
        here = places.get(outside.frame, {})
        for key in here:
            share = outside.gpu / len(here)
            spent[key] = spent.get(key, NOTHING) + Interval(share, share, share)
    return spent


def _idle_without_waits(activity: Activity, step: float) -> float:
    """The share of a step in which the GPU idles, but for what a wait costs."""
    after = sum(wait.cost for wait in activity.waits) / activity.steps
    return max(0.0, activity.idle(step) - after) / step if step else 0.0


def _waits(
    one: Recorded, activity: Activity | None, keys: Mapping[Key, Key]
) -> dict[Key, Interval]:
    """Milliseconds of a step that the GPU idles because each line waited for it.

    The steps in which stacks were taken and those that were profiled do the same, in one order:
    the waits of a step are matched one by one, and by their share where their numbers differ.
    """
    if activity is None or not one.syncs:
        return {}
    syncs, places = one.syncs[-1], _waiting_places(one)
    steps = max(1, syncs.last - syncs.first + 1)
    each = len(places) // steps
    idle: dict[Key, list[float]] = {}
    if each and len(activity.waits) == each * activity.steps:
        for n, wait in enumerate(activity.waits):
            key = keys.get(places[n % each], places[n % each])
            idle.setdefault(key, []).append(wait.cost)
        return {key: _per_step(ms, activity.steps) for key, ms in idle.items()}
    whole = sum(wait.cost for wait in activity.waits) / activity.steps
    counts = Counter(keys.get(place, place) for place in places)
    return {key: of_share(n, len(places)) * whole for key, n in counts.items()}


def _waiting_places(one: Recorded) -> list[Key]:
    """Where each wait of the last window was."""
    libraries, syncs = libraries_of(one.process), one.syncs[-1]
    found = (user_frame(frames(syncs.stacks[number]), libraries) for _, number in syncs.events)
    return [(place.filename, place.row) for place in found]


def _waiting(one: Recorded, work: Work, activity: Activity | None) -> float | None:
    """Milliseconds of a step that the host is at lines which wait for the GPU.

    None where it waits elsewhere as well, within launches: where not each step waits, or launches
    more before it does than may be in the queue, it runs ahead until it may launch no more.
    """
    places = _waiting_places(one) if one.syncs else []
    if activity is not None and activity.may_fill_queue:
        return None
    if not places or len(places) < one.syncs[-1].last - one.syncs[-1].first + 1:
        return None
    lines, libraries, spent = frozenset(places), libraries_of(one.process), 0.0
    for stack, ms in work.seen.stacks.items():
        at = user_frame(frames(stack), libraries)
        spent += ms if (at.filename, at.row) in lines else 0.0
    return spent


def _per_step(milliseconds: Sequence[float], steps: int) -> Interval:
    one = of_median(milliseconds)
    return one * (len(milliseconds) / steps)


def _rows(one: Recorded, lines: Sequence[Line]) -> dict[Key, Key]:
    """Which line each row belongs to: its own, and all of a loop's that a finding is about."""
    rows: dict[Key, Key] = {}
    loops: dict[str, dict[int, range]] = {}
    for line in lines:
        key = line.filename, line.row
        if line.finding is not None and line.finding.effect is Effect.LAUNCH_OVERHEAD:
            if line.filename not in loops:
                found = own_file(one, line.filename).loops
                loops[line.filename] = {loop.start: loop for loop in found}
            for row in loops[line.filename].get(line.row, ()):
                rows.setdefault((line.filename, row), key)
    for line in lines:
        for place in _places(line):
            rows[place] = line.filename, line.row
        if line.finding is not None:
            span = line.finding.span
            here = span.start.row <= line.row <= span.end.row
            path = line.filename if here else str(line.finding.path)
            for row in range(span.start.row, span.end.row + 1):
                rows[path, row] = line.filename, line.row
    return rows


def _places(line: Line) -> Iterator[Key]:
    """Where the time of a line is spent: what breaks in a library that it calls, it does there."""
    inner = [
        event.stack[-1] if event.stack and event.kind in {Kind.BREAK, Kind.EAGER} else None
        for event in line.events
    ]
    yield from ((frame.filename, frame.row) for frame in inner if frame is not None)
    if not inner or None in inner:
        yield line.filename, line.row
