"""From what the recorder wrote to the answer that reports print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.files import read_text
from tclint.records import record
from tclint.run.account import Account, account_of
from tclint.run.ceiling import ceiling_of, demand_of
from tclint.run.cells import with_cells
from tclint.run.events import Event, Kind, events_of, together
from tclint.run.gpu import Activity, activity
from tclint.run.gradients import with_forward_lines
from tclint.run.host import LOADING, Key, Work
from tclint.run.intervals import NOTHING, Interval
from tclint.run.kernels import kernel_classes, without_loading
from tclint.run.launch import Ended
from tclint.run.lines import Joined, Line, is_told, join
from tclint.run.missing import notes_of
from tclint.run.outlook import Ceiling, KernelClasses, Tried, read_tried
from tclint.run.price import FREE, Price, prices, step_times
from tclint.run.rates import read_rates
from tclint.run.read import Reading, training
from tclint.run.recorded import Recorded
from tclint.run.spans import read_spans
from tclint.run.switches import Switches, switches
from tclint.run.timeline import Timeline, timeline

LEAST_BESIDE = 0.01
"""The share of a step from which on a line is told of that only works on the host."""


SUPPORTS = 0.1
"""The share of a step from which on what was measured speaks for a weak finding."""


@record(frozen=True)
class Ranked:
    """A line with its price in a step."""

    line: Line
    price: Price


@record(frozen=True)
class Rank:
    """One process that trained: its step, its GPU, and what it ran into."""

    recorded: Recorded
    events: tuple[Event, ...]
    step: Interval = NOTHING
    activity: Activity | None = None
    switches: Switches | None = None
    kernels: KernelClasses | None = None
    ceiling: Ceiling | None = None

    @property
    def idle_share(self) -> float:
        """The share of a step in which its GPU does nothing."""
        if self.activity is None or not self.step.value:
            return 0.0
        return self.activity.idle(self.step.value) / self.step.value

    @property
    def collective_share(self) -> float:
        """The share of a step in which its GPU does nothing but collectives."""
        if self.activity is None or not self.step.value:
            return 0.0
        return min(1.0, self.activity.collective / self.activity.steps / self.step.value)

    @property
    def name(self) -> str:
        """What a report calls it; processes that nobody numbers have their own number."""
        process = self.recorded.process
        return f"process {process.pid}" if process.rank is None else f"rank {process.rank}"

    @property
    def number(self) -> int | None:
        """Its rank among the processes of a distributed run."""
        return self.recorded.process.rank


@record(frozen=True)
class Answer:
    """What a run of the command told.

    ``dear`` are the lines worth something in a step, the dearest first; ``cheap`` are worth
    nothing here; ``unknown`` are events that no rule explains; ``idle`` are findings in files that
    ran at whose lines nothing happened, and which took no time. ``notes`` say what could not be
    told, and why, and what CUDA graphs left out. ``account`` says where the time of the loop goes.
    """

    command: tuple[str, ...]
    ended: Ended | None
    ranks: tuple[Rank, ...]
    events: tuple[Event, ...]
    joined: Joined
    dear: tuple[Ranked, ...] = ()
    cheap: tuple[Ranked, ...] = ()
    unknown: tuple[Ranked, ...] = ()
    idle: tuple[Line, ...] = ()
    notes: tuple[str, ...] = ()
    processes: int = 0
    by_key: Mapping[Key, Price] = field(default_factory=dict)
    work: Work = Work()
    account: Account = Account()
    ceiling: Ceiling | None = None
    tried: Tried | None = None

    def text_of(self, filename: str) -> str:
        """The text of a file, or of a cell; empty where it cannot be read."""
        text = None if self.first is None else self.first.recorded.text_of(filename)
        try:
            return read_text(filename, errors="replace") if text is None else text
        except OSError:
            return ""

    @property
    def priced(self) -> bool:
        """Whether there were steps, and some were looked at: only then lines have prices."""
        one = None if self.first is None else self.first.recorded
        return one is not None and one.steps is not None and bool(self.work.total)

    @property
    def drowned(self) -> tuple[Ranked, ...]:
        """Cheap lines of which a rule tells, and whose price steps differ by anyway; dear first."""
        if self.first is None or not self.priced:
            return ()
        step = self.first.step
        known = [one for one in self.cheap if one.line.finding is not None]
        found = [one for one in known if one.price.drowned(step)]
        return tuple(sorted(found, key=lambda one: -one.price.total.value))

    @property
    def timeline(self) -> Timeline | None:
        """A usual step of the first rank."""
        first = self.first
        if first is None or not self.priced:
            return None
        lines = [(one.line.filename, one.line.row) for one in self.dear]
        one, step = first.recorded, first.step.value
        return timeline(one, self.work, lines, first.activity, step)

    @property
    def first(self) -> Rank | None:
        """The rank whose times the report tells: the lowest."""
        return self.ranks[0] if self.ranks else None


def answer(
    command: Sequence[str],
    ended: Ended | None,
    reading: Reading,
    folder: Path,
    config: Config,
    also: Collection[str] | None = None,
) -> Answer:
    """Join and price what was recorded in a folder.

    With ``also``, the findings in cells of a notebook are told of those alone that the recording
    names, and of these.
    """
    reading = with_cells(reading, also)
    chosen = training(reading)
    notes = [*notes_of(reading, chosen, ended)]
    ranks = []
    for told in chosen:
        one, unread = with_forward_lines(told, folder)
        step = step_times(one.steps) if one.steps is not None else NOTHING
        rank, trouble = _traced(Rank(one, events_of(one), step), folder)
        notes += [*unread, *trouble, *_skipped(one)]
        ranks.append(rank)
    events = together([rank.events for rank in ranks]) if ranks else ()
    joined = join([rank.recorded for rank in ranks], events, config)
    table: Mapping[Key, Price] = {}
    work, account = Work(), Account()
    if ranks:
        first = ranks[0]
        lines, graphs = joined.lines, first.switches
        priced = prices(first.recorded, lines, first.activity, graphs, first.step, first.kernels)
        table, work = priced.by_key, priced.work
        joined = _supported(joined, table, config, first.step)
        account = account_of(first.recorded, work, first.activity, first.kernels)
        loading = sum(group.ms for group in account.groups if group.kind == LOADING)
        ranks[0] = replace(first, kernels=without_loading(priced.kernels, loading))
    return _ranked(
        Answer(
            tuple(command),
            ended,
            tuple(ranks),
            events,
            joined,
            notes=tuple(dict.fromkeys(notes)),
            processes=len(reading.processes),
            by_key=table,
            work=work,
            ceiling=ranks[0].ceiling if ranks else None,
            account=account,
            tried=read_tried(folder),
        )
    )


def _supported(
    joined: Joined, table: Mapping[Key, Price], config: Config, step: Interval
) -> Joined:
    """Without the weak findings about parts of a step that take little of it."""
    kept = (
        line
        for line in joined.lines
        if is_told(line, config) or table[line.filename, line.row].total.low > SUPPORTS * step.value
    )
    return replace(joined, lines=tuple(kept))


def _ranked(answer: Answer) -> Answer:
    step = answer.first.step if answer.first else NOTHING
    dear, cheap, unknown, idle = [], [], [], []
    for joined in answer.joined.lines:
        price = answer.by_key.get((joined.filename, joined.row), FREE)
        line = _with_work(joined, price, answer, step)
        one = Ranked(line, price)
        told = [event for event in line.events if not event.by_torch]
        if line.finding is None and not told:
            continue
        if price.worth(step):
            dear.append(one)
        elif line.events or price.total.value > 0:
            cheap.append(one)
        else:
            idle.append(line)
        if line.finding is None:
            unknown.append(one)
    dear += _beside(answer, step)
    dear.sort(key=lambda one: -one.price.total.value)
    return replace(
        answer, dear=tuple(dear), cheap=tuple(cheap), unknown=tuple(unknown), idle=tuple(idle)
    )


def _with_work(line: Line, price: Price, answer: Answer, step: Interval) -> Line:
    """The line, at which the host works as well where it calls what does."""
    beside = answer.work.beside.get((line.filename, line.row))
    if beside is None or price.host.low <= LEAST_BESIDE * step.value:
        return line
    event = Event(Kind.HOST, line.filename, line.row, beside.inside)
    return replace(line, events=(*line.events, event))


def _beside(answer: Answer, step: Interval) -> Iterator[Ranked]:
    """Lines at which the host works, and of which no rule says anything."""
    known = {(line.filename, line.row) for line in answer.joined.lines}
    for (filename, row), beside in answer.work.beside.items():
        price = answer.by_key[filename, row]
        if (filename, row) in known:
            continue
        if price.total.low > LEAST_BESIDE * step.value and price.worth(step):
            event = Event(Kind.HOST, filename, row, beside.inside)
            yield Ranked(Line(filename, row, (event,)), price)


def _skipped(one: Recorded) -> Iterator[str]:
    """Why CUDA graphs hold less than they were asked to."""
    for why, times in Counter(skip.reason for skip in one.skips).items():
        yield f"CUDA graphs were skipped: {why}" + (f" ({times} times)" if times > 1 else "")


def _traced(rank: Rank, folder: Path) -> tuple[Rank, Sequence[str]]:
    """The rank with what its last trace tells of the GPU and of compiled graphs, or why nothing."""
    for profile in reversed(rank.recorded.profiles):
        try:
            spans = read_spans(folder, profile.file)
        except (OSError, ValueError) as error:
            return rank, [f"the profiler's trace cannot be read: {error}"]
        steps = max(1, profile.last - profile.first + 1)
        on_gpu, graphs = activity(spans, steps), switches(spans, steps)
        told = replace(rank, activity=on_gpu, switches=graphs)
        return (told if on_gpu is None else _bounded(told, spans, steps, folder)), ()
    return rank, ()


def _bounded(rank: Rank, spans: Sequence[Mapping[str, Any]], steps: int, folder: Path) -> Rank:
    """The rank with what bounds its steps on the GPU."""
    rates, step = read_rates(folder), rank.step.value
    classes = kernel_classes(spans, steps, step, rates)
    demand = None if rates is None else demand_of(spans, steps, step, rates)
    least = None if rates is None or demand is None else ceiling_of(demand, rates)
    return replace(rank, kernels=classes, ceiling=least)
