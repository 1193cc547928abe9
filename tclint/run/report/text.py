"""The answer for a terminal: the step, the lines by price, and what is worth nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.diagnostics import Applicability, RemedyKind
from tclint.run.events import Event, Kind
from tclint.run.lines import Line
from tclint.run.price import quiet_steps
from tclint.run.proof import Proof
from tclint.run.report import proof_text
from tclint.run.session import Answer, Rank, Ranked

_SHOWN = 20
_NAMED = 3
_WIDEST = 90
"""Characters of what is said of a line; JSON and the page have all of it."""
_NUMBERS = 3
"""Columns that stand at the right: the number, the milliseconds, the share."""
_WHAT = {
    Kind.BREAK: "breaks the graph",
    Kind.RECOMPILE: "recompiles",
    Kind.SYNC: "waits for the GPU",
    Kind.EAGER: "runs eagerly",
    Kind.CUDAGRAPHS: "no CUDA graphs",
}
_FIXES = {
    Applicability.SAFE: "fix",
    Applicability.UNSAFE: "unsafe fix",
    Applicability.DISPLAY: "see the rule",
}


def render(answer: Answer, root: Path, proof: Proof | None = None) -> str:
    """The report, and what was proved."""
    proved = "" if proof is None else proof_text.render(proof, root)
    return "\n".join(_lines(answer, root)) + "\n" + proved


def _lines(answer: Answer, root: Path) -> Iterator[str]:
    if answer.command:
        yield f"{shown_command(answer)}{_ended(answer)}"
    for rank in answer.ranks:
        yield head(rank, named=len(answer.ranks) > 1)
    if answer.priced:
        yield from _table(answer, answer.dear, root)
        yield from _nothing("worth nothing here", answer.cheap, root)
    else:
        yield from _table(answer, answer.cheap, root)
    yield from _unknown(answer, root)
    if answer.idle:
        yield f"    did not happen: {_count(len(answer.idle), 'finding')} in files that ran"
    yield from _once(answer)
    yield from _apart(answer)
    for note in answer.notes:
        yield f"note: {note}"


def shown_command(answer: Answer) -> str:
    """The command as one types it."""
    return shlex.join(answer.command)


def _ended(answer: Answer) -> str:
    ended = answer.ended
    return "" if ended is None else f" · status {ended.status} · {ended.seconds:.1f} s"


def head(rank: Rank, *, named: bool) -> str:
    """The step of a process, what it compiled, and how busy its GPU was."""
    parts = []
    steps = rank.recorded.steps
    if steps is not None:
        step = rank.step
        count = _count(len(quiet_steps(steps)), "step")
        parts.append(f"step {step.value:.4g} ms ({step.low:.4g} to {step.high:.4g}, {count})")
    compiled = rank.recorded.compiled
    if compiled:
        frames = {one.compile_id.split("/", maxsplit=1)[0] for one in compiled}
        parts.append(f"{_count(len(frames), 'function')} compiled")
        breaks = sum(event.kind is Kind.BREAK for event in rank.events)
        parts.append(_count(breaks, "graph break"))
    else:
        parts.append("nothing compiled")
    if rank.activity is not None:
        parts.append(f"GPU idle {rank.idle_share:.0%}")
        parts.append(f"{rank.activity.launches / rank.activity.steps:.0f} launches a step")
    name = f"rank {rank.number}: " if named else ""
    return name + " · ".join(parts)


def _table(answer: Answer, ranked: Sequence[Ranked], root: Path) -> Iterator[str]:
    rows = [_row(n, one, answer, root) for n, one in enumerate(ranked[:_SHOWN], start=1)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(
            cell.rjust(width) if n < _NUMBERS else cell.ljust(width)
            for n, (cell, width) in enumerate(cells)
            if width
        ).rstrip()
    if more := ranked[_SHOWN:]:
        yield f"    and {_count(len(more), 'line')} more"
    if answer.priced and not ranked:
        yield "    nothing here is worth a change: no line costs what could be measured"


def _row(number: int, one: Ranked, answer: Answer, root: Path) -> tuple[str, ...]:
    step = answer.first.step.value if answer.first else 0.0
    ms = one.price.total
    return (
        f"{number}.",
        f"{ms.value:.2g} ms" if step else "",
        f"{ms.value / step:.0%}" if step else "",
        f"{shown(one.line.filename, root)}:{one.line.row}",
        _cut(says(one.line)),
        remedy(one.line),
    )


def _cut(words: str) -> str:
    return words if len(words) <= _WIDEST else words[: _WIDEST - 4].rstrip() + " ..."


def says(line: Line) -> str:
    """What happened at a line, and what a rule says of it."""
    happened = dict.fromkeys(_WHAT[event.kind] for event in line.events)
    found = line.finding
    if found is not None:
        return " · ".join([*happened, found.message.split("\n", maxsplit=1)[0]])
    told = dict.fromkeys(event.what for event in line.events if event.kind is not Kind.SYNC)
    return " · ".join([*happened, *told])


def remedy(line: Line) -> str:
    """What tclint offers for a line."""
    found = line.finding
    if found is None:
        return "no rule knows this"
    if found.fixable is not None:
        return f"{found.code} {_FIXES[found.fixable]}"
    kinds = {remedy.kind for remedy in found.remedies}
    if RemedyKind.SETTING in kinds:
        return f"{found.code} setting"
    return f"{found.code} escape hatch" if kinds else found.code


def _nothing(words: str, ranked: Sequence[Ranked], root: Path) -> Iterator[str]:
    if not ranked:
        return
    places = [f"{shown(one.line.filename, root)}:{one.line.row}" for one in ranked]
    more = ", ..." if len(places) > _NAMED else ""
    yield f"    {words}: {_count(len(ranked), 'line')} ({', '.join(places[:_NAMED])}{more})"


def _unknown(answer: Answer, root: Path) -> Iterator[str]:
    for one in answer.unknown[:_SHOWN]:
        event = next(event for event in one.line.events if not event.by_torch)
        where = f"{shown(event.filename, root)}:{event.row}"
        yield f"    no rule knows: {where}  {_WHAT[event.kind]}: {event.what}"


def _once(answer: Answer) -> Iterator[str]:
    first = answer.first
    if first is None or not first.recorded.compiled:
        return
    compiled = first.recorded.compiled
    again = [one for one in compiled if one.recompile_reason]
    cold = sum(one.seconds for one in compiled if not one.recompile_reason)
    parts = [f"cold start {cold:.3g} s"]
    if again:
        seconds = sum(one.seconds for one in again)
        parts.append(f"{_count(len(again), 'recompile')} {seconds:.3g} s")
    yield f"    once: {', '.join(parts)}"


def _apart(answer: Answer) -> Iterator[str]:
    """What only some ranks ran into."""
    ranks = {rank.number for rank in answer.ranks if rank.number is not None}
    for event in answer.events:
        if event.ranks and set(event.ranks) != ranks:
            named = ", ".join(map(str, event.ranks))
            yield f"    only rank {named}: {_place(event)} {_WHAT[event.kind]}"


def _place(event: Event) -> str:
    return f"{event.filename}:{event.row}"


def shown(filename: str, root: Path) -> str:
    """A path as seen from a folder, where it is below it."""
    path = Path(filename)
    return str(path.relative_to(root)) if path.is_relative_to(root) else filename


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
