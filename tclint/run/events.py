"""What happened while the command ran, by the user's line: one event for all of its times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path

from tclint.records import record
from tclint.run.recorded import Compiled, Place, Process, Recorded
from tclint.verify.break_text import (
    Libraries,
    merge_breaks,
    placed,
    read_break,
    read_recompile,
    user_frame,
)
from tclint.verify.events import Frame, Recompile

_GAVE_UP = "WON'T CONVERT"
"""Begins what torch says of a frame that it leaves to eager code: that is told as such."""


class Kind(str, Enum):
    """What an event is; each is priced in its own way."""

    BREAK = "graph-break"
    RECOMPILE = "recompile"
    SYNC = "host-sync"
    EAGER = "runs-eagerly"
    CUDAGRAPHS = "no-cuda-graphs"
    HOST = "host-time"


@record(frozen=True)
class Event:
    """One kind of thing at one line.

    ``times`` is how often it happened: a break once for each compilation that met it, a host sync
    once for each time in a step. ``stack`` goes on into libraries, outermost first. ``by_torch``
    marks what torch's own code asks for. ``settings`` are those of ``torch._dynamo.config`` that
    torch says would help. ``ranks`` saw it. ``limit`` marks a recompile after which torch gives up:
    the function runs eagerly from then on.
    """

    kind: Kind
    filename: str
    row: int
    what: str
    stack: tuple[Frame, ...] = ()
    times: float = 1
    gb_id: str | None = None
    by_torch: bool = False
    settings: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    compile_id: str = ""
    limit: bool = False


def libraries_of(process: Process) -> Libraries:
    """What is not the user's code, where a process ran."""
    folders = process.libraries
    torch = next((one for one in folders if Path(one).name == "torch"), "")
    # The recorder names torch's own folder; torch's logs do not.
    within = [str(Path(one, "torch")) for one in folders if one.endswith("-packages")]
    return Libraries(torch or next(iter(within), "\0"), folders)


def events_of(one: Recorded) -> tuple[Event, ...]:
    """What one process ran into, in the order of files and lines."""
    libraries = libraries_of(one.process)
    found = [
        *_breaks(one, libraries),
        *_recompiles(one.compiled, libraries),
        *_eager(one),
        *_syncs(one, libraries),
        *(Event(Kind.CUDAGRAPHS, "?", 0, text) for text in _skips(one)),
    ]
    rank = one.process.rank
    ranks = () if rank is None else (rank,)
    return tuple(sorted((_of(event, ranks) for event in found), key=_order))


def together(ranks: Sequence[tuple[Event, ...]]) -> tuple[Event, ...]:
    """The events of all ranks: what several ran into is one event."""
    if len(ranks) == 1:
        return ranks[0]
    merged: dict[tuple[object, ...], Event] = {}
    for event in (event for events in ranks for event in events):
        key = (event.kind, event.filename, event.row, event.what)
        known = merged.get(key)
        merged[key] = event if known is None else _of(known, (*known.ranks, *event.ranks))
    return tuple(sorted(merged.values(), key=_order))


def _of(event: Event, ranks: tuple[int, ...]) -> Event:
    return replace(event, ranks=tuple(sorted(set(ranks))))


def _order(event: Event) -> tuple[str, int, str]:
    return event.filename, event.row, event.kind.value


def _breaks(one: Recorded, libraries: Libraries) -> Iterator[Event]:
    told = (entry.text for entry in one.breaks if not entry.text.startswith(_GAVE_UP))
    for found in merge_breaks(read_break(text, libraries) for text in told):
        yield Event(
            Kind.BREAK,
            found.filename,
            found.row,
            found.reason,
            found.stack,
            gb_id=found.gb_id,
            by_torch=found.by_torch,
            settings=found.settings,
        )


def _recompiles(compiled: Iterable[Compiled], libraries: Libraries) -> Iterator[Event]:
    again = [one for one in compiled if one.recompile_reason]
    read = placed(
        read_recompile(
            one.compile_id,
            one.recompile_reason,
            one.fail_reason,
            Frame(one.filename, one.row, one.function),
            libraries,
        )
        for one in again
    )
    for entry, found in zip(again, read, strict=True):
        stack = (Frame(entry.filename, entry.row, entry.function),)
        yield Event(
            Kind.RECOMPILE,
            found.filename,
            found.row,
            _words(found),
            stack,
            compile_id=found.compile_id,
            limit=found.limit_reached,
        )


def _words(found: Recompile) -> str:
    limit = "; the limit is reached, it now runs eagerly" if found.limit_reached else ""
    return f"{found.reason}{limit}"


def _eager(one: Recorded) -> Iterator[Event]:
    """Functions that were not compiled at all: told where they break, if that is why."""
    broken = {entry.compile_id for entry in one.breaks if not entry.text.startswith(_GAVE_UP)}
    for entry in one.compiled:
        if entry.fail_type and not entry.recompile_reason and entry.compile_id not in broken:
            yield Event(
                Kind.EAGER,
                entry.filename,
                entry.row,
                entry.fail_reason.split("\n", maxsplit=1)[0] or entry.fail_type,
                (Frame(entry.filename, entry.row, entry.function),),
                compile_id=entry.compile_id,
            )


def _syncs(one: Recorded, libraries: Libraries) -> Iterator[Event]:
    for syncs in one.syncs:
        stacks = [frames(stack) for stack in syncs.stacks]
        lines: dict[tuple[str, int, bool], list[int]] = {}
        for _, number in syncs.events:
            at = user_frame(stacks[number], libraries)
            later = number in syncs.backward
            lines.setdefault((at.filename, at.row, later), []).append(number)
        steps = max(1, syncs.last - syncs.first + 1)
        for (filename, row, later), numbers in lines.items():
            yield Event(
                Kind.SYNC,
                filename,
                row,
                "the CPU waits for the GPU" + " in the backward of this line" * later,
                stacks[numbers[0]],
                times=len(numbers) / steps,
            )


def _skips(one: Recorded) -> tuple[str, ...]:
    return tuple(dict.fromkeys(skip.reason for skip in one.skips))


def frames(stack: Iterable[Place]) -> tuple[Frame, ...]:
    """A recorded stack as the rest of tclint knows it."""
    return tuple(Frame(place.filename, place.row, place.function) for place in stack)
