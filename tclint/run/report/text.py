"""The answer for a terminal: the step, the lines by price, and what is worth nothing."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tclint.report.rounded import rounded
from tclint.run.ablate import Ablation
from tclint.run.proof import Proof
from tclint.run.report import proof_text, words
from tclint.run.report.verdict_words import listed, savings, verdict
from tclint.run.session import Answer, Ranked

_SHOWN = 20
_NAMED = 3
_WIDEST = 90
"""Characters of what is said of a line; JSON and the page have all of it."""
_NARROWEST = 24
"""What is always said of a line, though the row becomes too wide."""
_SAYS, _GAP = 4, 2
"""The column of what is said of a line, and the columns between two of them."""
_NUMBERS = 3
"""Columns that stand at the right: the number, the milliseconds, the share."""


def render(
    answer: Answer, root: Path, proof: Proof | None = None, ablation: Ablation | None = None
) -> str:
    """The report, and what was proved."""
    proved = "" if proof is None else proof_text.render(proof, root)
    return "\n".join(_lines(answer, root, ablation, proved)) + "\n"


def _lines(answer: Answer, root: Path, ablation: Ablation | None, proved: str) -> Iterator[str]:
    if answer.command:
        yield f"{words.command(answer)}{_ended(answer)}"
    yield from verdict(answer, root)
    yield from proved.splitlines()
    for rank in answer.ranks:
        yield words.head(rank, answer)
    yield from _recompiles(answer, root)
    yield from _table(answer, words.ranked(answer), root, ablation)
    if saves := [*savings(answer)]:
        yield "what else would save time:"
        yield from (f"    {told}" for told in saves)
    yield from _account(answer, root)
    yield from _drowned(answer, root)
    yield from _nothing("worth nothing here", words.worthless(answer), root)
    yield from _unknown(answer, root)
    if answer.idle:
        yield f"    did not happen: {words.count(len(answer.idle), 'finding')} in files that ran"
    yield from _once(answer)
    yield from (f"    only {told}" for told in words.apart(answer, root))
    for note in answer.notes:
        yield f"note: {note}"


def _ended(answer: Answer) -> str:
    ended = answer.ended
    return "" if ended is None else f" · status {ended.status} · {ended.seconds:.1f} s"


def _table(
    answer: Answer, ranked: Sequence[Ranked], root: Path, ablation: Ablation | None
) -> Iterator[str]:
    if ranked:
        yield "what to change:"
    rows = [_row(n, one, answer, root) for n, one in enumerate(ranked[:_SHOWN], start=1)]
    widest = _room(rows)
    rows = [(*row[:_SAYS], _cut(row[_SAYS], widest), *row[_SAYS + 1 :]) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for one, row in zip(ranked, rows, strict=False):
        cells = zip(row, widths, strict=True)
        yield (
            (" " * _GAP)
            .join(
                cell.rjust(width) if n < _NUMBERS else cell.ljust(width)
                for n, (cell, width) in enumerate(cells)
                if width
            )
            .rstrip()
        )
        if ablation is not None and (told := words.measured(ablation.of(one.line), root)):
            yield f"      {told}"
    if more := ranked[_SHOWN:]:
        yield f"    and {words.count(len(more), 'line')} more"


def _recompiles(answer: Answer, root: Path) -> Iterator[str]:
    found = [*words.recompiled_lines(answer, root)]
    if found:
        yield "compiled again:"
    yield from (f"    {told}" for told in found[:_SHOWN])
    if more := found[_SHOWN:]:
        yield f"    and at {words.count(len(more), 'line')} more"


def _account(answer: Answer, root: Path) -> Iterator[str]:
    """Where the time of a step goes: the shares add up to all of it."""
    if not answer.priced:
        return
    yield "where the time goes:"
    for share, ms, told in listed(answer, root):
        yield f"{share:>6}  {ms:>8}  {told}"


def _row(number: int, one: Ranked, answer: Answer, root: Path) -> tuple[str, ...]:
    return (
        f"{number}.",
        f"{words.milliseconds(one)} ms" if answer.priced else "",
        words.share(one, answer),
        words.place(one.line, root),
        words.says(one.line, answer),
        words.remedy(one.line),
    )


def _room(rows: Sequence[tuple[str, ...]]) -> int:
    """Characters that may be said of a line, so that a row fits the terminal; a pipe has many."""
    if not rows or not sys.stdout.isatty():
        return _WIDEST
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    beside = sum(width + _GAP for n, width in enumerate(widths) if width and n != _SAYS)
    return max(_NARROWEST, min(_WIDEST, shutil.get_terminal_size().columns - beside))


def _cut(told: str, widest: int) -> str:
    return told if len(told) <= widest else told[: widest - 4].rstrip() + " ..."


def _nothing(what: str, ranked: Sequence[Ranked], root: Path) -> Iterator[str]:
    if not ranked:
        return
    places = [words.what_where(one.line, root) for one in ranked]
    more = ", ..." if len(places) > _NAMED else ""
    yield f"    {what}: {words.count(len(ranked), 'line')} ({', '.join(places[:_NAMED])}{more})"


def _drowned(answer: Answer, root: Path) -> Iterator[str]:
    ranked = answer.drowned
    if ranked:
        places = [words.small(one, root) for one in ranked]
        more = ", ..." if len(places) > _NAMED else ""
        told = f"{words.count(len(ranked), 'line')} ({', '.join(places[:_NAMED])}{more})"
        yield f"    {words.DROWNED}: {told}"


def _unknown(answer: Answer, root: Path) -> Iterator[str]:
    unknown = words.unknown(answer, _SHOWN)
    worth = ", and it is worth nothing here" if answer.priced else ""
    for one in unknown[:_SHOWN]:
        event = next(event for event in one.line.events if not event.by_torch)
        what = words.event_words(event)
        yield f"    no rule knows{worth}: {words.place(event, root)}  {what}: {event.what}"
    if more := unknown[_SHOWN:]:
        yield f"    no rule knows {words.count(len(more), 'more line')}"


def _once(answer: Answer) -> Iterator[str]:
    first = answer.first
    if first is None or not first.recorded.compiled:
        return
    compiled = first.recorded.compiled
    again = words.recompiled(compiled)
    cold = sum(one.seconds for one in compiled if one.compile_id not in again)
    parts = [f"cold start {rounded(cold, 3)} s"]
    if again:
        seconds = sum(one.seconds for one in compiled if one.compile_id in again)
        parts.append(f"{words.count(len(again), 'recompile')} {rounded(seconds, 3)} s")
    if cached := words.cached(compiled):
        parts.append(cached)
    yield f"    once: {', '.join(parts)}"
