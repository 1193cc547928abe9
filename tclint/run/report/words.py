"""What all reports say alike: of a process, of a line, of its price and its remedy."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.diagnostics import Applicability
from tclint.fix.results import AppliedFix
from tclint.report.rounded import rounded
from tclint.run.ablate import Measured
from tclint.run.cells import is_cell
from tclint.run.events import Event, Kind
from tclint.run.host import LOADING
from tclint.run.intervals import Interval
from tclint.run.lines import Line
from tclint.run.price import quiet_steps
from tclint.run.proof import Proof
from tclint.run.recorded import Compiled
from tclint.run.session import Answer, Rank, Ranked

WHAT = {
    Kind.BREAK: "breaks the graph",
    Kind.RECOMPILE: "recompiles",
    Kind.SYNC: "waits for the GPU",
    Kind.EAGER: "runs eagerly",
    Kind.CUDAGRAPHS: "no CUDA graphs",
    Kind.HOST: "host time",
}
_TRACED = Kind.BREAK, Kind.EAGER
_FIXES = {
    Applicability.SAFE: "fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.DISPLAY: "see the rule",
}

DROWNED = "less than the steps vary by anyway"
_WIDE = 1.2
_FAR = 1.05
_LEAST_ALONE = 0.01
"""The share of a step below which it is not told that only collectives ran."""


def command(answer: Answer) -> str:
    """The command as one types it."""
    return shlex.join(answer.command)


def head(rank: Rank, answer: Answer) -> str:
    """The step of a process, what it compiled, and how busy its GPU was."""
    parts = []
    steps = rank.recorded.steps
    if steps is not None:
        step = rank.step
        number = count(len(quiet_steps(steps)), "step")
        value, low, high = (rounded(one, 4) for one in (step.value, step.low, step.high))
        parts.append(f"step {value} ms ({low} to {high}, {number}{_mean(rank, answer)})")
    compiled = rank.recorded.compiled
    if compiled:
        frames = {one.compile_id.split("/", maxsplit=1)[0] for one in compiled}
        parts.append(f"{count(len(frames), 'function')} compiled")
        breaks = [event for event in rank.events if event.kind is Kind.BREAK]
        own = sum(event.by_torch for event in breaks)
        by_torch = f", {own} of torch's own" if own else ""
        parts.append(f"{count(len(breaks), 'graph break')}{by_torch}")
    else:
        parts.append("nothing compiled")
    if rank.activity is not None:
        alone = rank.collective_share
        collective = f", in collectives alone {alone:.0%}" if alone >= _LEAST_ALONE else ""
        parts.append(f"GPU idle {rank.idle_share:.0%}{collective}")
        parts.append(f"{rank.activity.launches / rank.activity.steps:.0f} launches a step")
    name = f"{rank.name}: " if len(answer.ranks) > 1 else ""
    return name + " · ".join(parts)


def _mean(rank: Rank, answer: Answer) -> str:
    """The mean, where some steps take so much longer that the median does not tell."""
    account = answer.account
    far = rank is answer.first and account.mean > _FAR * account.median
    return f"; {rounded(account.mean, 4)} in the mean" if far else ""


def ranked(answer: Answer) -> Sequence[Ranked]:
    """The lines to tell of one by one: the dearest first, or all where nothing has a price."""
    if answer.priced:
        return answer.dear
    return [one for one in answer.cheap if not recompiles(one.line)]


def worthless(answer: Answer) -> tuple[Ranked, ...]:
    """Lines of which a rule tells, and that are worth nothing here."""
    known = [one for one in answer.cheap if one.line.finding is not None and answer.priced]
    unclear = answer.drowned
    return tuple(one for one in known if one not in unclear and not recompiles(one.line))


def recompiles(line: Line) -> bool:
    """Whether all that happened at a line is that a function was compiled again: told apart."""
    return bool(line.events) and all(one.kind is Kind.RECOMPILE for one in line.events)


def recompiled_lines(answer: Answer, root: Path) -> Iterator[str]:
    """The lines whose guards failed: how often, for how many seconds, and what they asked for."""
    first = answer.first
    seconds: Counter[str] = Counter()
    for one in first.recorded.compiled if first is not None else ():
        seconds[one.compile_id] += one.seconds  # type: ignore[assignment]
    lines = [line for line in answer.joined.lines if any(map(_recompiles, line.events))]
    for line in lines:
        again = [event for event in line.events if _recompiles(event)]
        spent = rounded(sum(seconds[event.compile_id] for event in again), 3)
        often = "once" if len(again) == 1 else f"{len(again)} times"
        end = ", then eager for good" if any(event.limit for event in again) else ""
        told = f"{place(line, root)} {often}, {spent} s{end}: {guard(again[-1])}"
        offered = f"  {remedy(line)}" if line.finding is not None else ""
        yield told + offered


def _recompiles(event: Event) -> bool:
    return event.kind is Kind.RECOMPILE


def unknown(answer: Answer, shown: int) -> tuple[Ranked, ...]:
    """Lines that no rule explains, but for the first ``shown``, which are told one by one."""
    told = {(one.line.filename, one.line.row) for one in ranked(answer)[:shown]}
    return tuple(
        one
        for one in answer.unknown
        if (one.line.filename, one.line.row) not in told and not recompiles(one.line)
    )


def recompiled(compiled: Sequence[Compiled]) -> frozenset[str]:
    """The ids of what was compiled again: a backward has that of its forward, and no reason."""
    return frozenset(one.compile_id for one in compiled if one.recompile_reason)


def cached(compiled: Sequence[Compiled]) -> str:
    """How many graphs Inductor had in its cache; nothing where it had none."""
    asked = [one.cache for one in compiled if one.cache]
    hits = asked.count("hit")
    return f"{hits} of {count(len(asked), 'graph')} from Inductor's cache" if hits else ""


def milliseconds(one: Ranked) -> str:
    """What a line costs in a step."""
    return rounded(one.price.total.value, 2)


def interval(one: Interval) -> str:
    """What a number may be off by."""
    return f"{rounded(one.low, 2)} to {rounded(one.high, 2)}"


def share(one: Ranked, answer: Answer) -> str:
    """The share of a step that a line costs."""
    account = answer.account
    return f"{account.share(one.price.total.value):.0%}" if answer.priced else ""


def place(line: Line | Event, root: Path) -> str:
    """A line as seen from a folder."""
    return at(line.filename, line.row, root)


def at(filename: str, row: int, root: Path) -> str:
    """A row of a file as seen from a folder, or of a cell."""
    if is_cell(filename):
        return f"cell {filename}, line {row}"
    return f"{shown(filename, root)}:{row}"


def small(one: Ranked, root: Path) -> str:
    """A line whose price may be nothing: where it is, what it is, and the price."""
    return f"{what_where(one.line, root)} {milliseconds(one)} ms"


def what_where(line: Line, root: Path) -> str:
    """A line and what happened there first, or what a rule says of it where nothing did."""
    event = next((one for one in line.events if not one.by_torch), None)
    if event is not None:
        return f"{place(line, root)} {event_words(event)}"
    return place(line, root) + (f" {line.finding.code}" if line.finding is not None else "")


def fixed_place(fix: AppliedFix, root: Path) -> str:
    """The line that a fix is for."""
    return at(str(fix.diagnostic.path), fix.diagnostic.span.start.row, root)


def shown(filename: str, root: Path) -> str:
    """A path as seen from a folder, where it is below it; of a package, as one imports it."""
    path = Path(filename)
    if path.is_relative_to(root):
        return str(path.relative_to(root))
    packages = [n for n, part in enumerate(path.parts) if part.endswith("-packages")]
    return str(Path(*path.parts[packages[-1] + 1 :])) if packages else filename


def says(line: Line, answer: Answer) -> str:
    """What happened at a line, and what a rule says of it."""
    happened = dict.fromkeys(map(event_words, line.events))
    found = line.finding
    if found is not None:
        return " · ".join([*happened, found.message.split("\n", maxsplit=1)[0]])
    if line.only_works:
        inside = next((event.what for event in line.events if event.what), "")
        if inside.startswith(LOADING):
            return f"{inside}: {code(line, answer)}"
        return f"host time{' in ' * bool(inside)}{inside}: {code(line, answer)}"
    whats = dict.fromkeys(event.what for event in line.events if event.kind is not Kind.SYNC)
    return " · ".join([*happened, *filter(None, whats)])


def event_words(event: Event) -> str:
    """What happened, and where in a library that the line calls."""
    inner = event.stack[-1] if event.stack else None
    if inner is None or inner.filename == event.filename or event.kind not in _TRACED:
        return WHAT[event.kind]
    return f"{WHAT[event.kind]} in {at(inner.filename, inner.row, Path(event.filename).parent)}"


def code(line: Line, answer: Answer) -> str:
    """What is written at a line."""
    rows = answer.text_of(line.filename).splitlines()
    return rows[line.row - 1].strip() if 0 < line.row <= len(rows) else "?"


def guard(event: Event) -> str:
    """What a guard of a compiled function asked for, in one line."""
    return event.what.partition(";")[0].partition("\n")[0].partition("  #")[0].strip()


def remedy(line: Line) -> str:
    """What tclint offers for a line."""
    found = line.finding
    if line.only_works:
        return ""
    if found is None:
        return "no rule knows this"
    if found.path.resolve() != Path(line.filename).resolve():
        return f"{found.code}, in a library"
    if found.fixable is not None:
        return f"{found.code} {_FIXES[found.fixable]}"
    return f"{found.code} setting" if found.remedies else found.code


def measured(told: Measured | str | None, root: Path) -> str:
    """What was measured for a line; empty where nobody asked."""
    if told is None:
        return ""
    if isinstance(told, str):
        return f"unmeasured: {told}"
    words = f"measured {rounded(told.saved.value, 2)} ms ({interval(told.saved)})"
    if told.together:
        words += f" together with {', '.join(place(line, root) for line in told.together)}"
    return words if told.same is not False else f"{words}; {told.losses}"


def apart(answer: Answer, root: Path) -> Iterator[str]:
    """What only some ranks ran into, each with the ranks: ``rank 1: train.py:3 recompiles``."""
    ranks = {rank.number for rank in answer.ranks if rank.number is not None}
    for event in answer.events:
        if event.ranks and set(event.ranks) != ranks:
            named = ", ".join(map(str, event.ranks))
            yield f"rank {named}: {place(event, root)} {event_words(event)}"


def speed(proof: Proof) -> str:
    """How many times as fast a step is, where the runs tell."""
    if proof.decided:
        return f"{proof.speedup.value:.3g}x"
    wide = proof.speedup.high > _WIDE * proof.speedup.low
    return "no verdict: runs differ too much" if wide else "no difference that can be told"


def count(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
