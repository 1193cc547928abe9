"""Why some of an answer is missing: what the command did not do, or could not be recorded."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tclint.run.read import Reading, Source
from tclint.run.recorded import Recorded
from tclint.run.sampled import sampled

if TYPE_CHECKING:
    from tclint.run.launch import Ended

OLDEST = "3.10"
"""The oldest Python that the recorder runs under."""


def notes_of(reading: Reading, chosen: Sequence[Recorded], ended: Ended | None) -> Iterator[str]:
    """One sentence for each reason, the worst first."""
    yield from (_of_block if reading.source is Source.BLOCK else _of_command)(reading, chosen)
    if ended is not None and ended.status:
        yield f"the command ended with status {ended.status}"
    yield from _elsewhere(chosen)
    for one in chosen:
        if one.end is None and reading.source is not Source.LOGS:
            yield _unfinished(one.process.pid, reading)
        yield from (f"{note.what}: {note.reason}" for note in one.notes)
    yield from _unseen(reading, chosen)
    if reading.damaged:
        lines = "1 line" if reading.damaged == 1 else f"{reading.damaged} lines"
        yield f"{lines} of the recording could not be read"


def _of_command(reading: Reading, chosen: Sequence[Recorded]) -> Iterator[str]:
    """What the command did not do, so that there is little to tell."""
    if reading.gone:
        yield "the recording is gone: its folder was removed while the command ran"
    elif not reading.processes and reading.lost:
        yield f"nothing could be recorded: {_reasons(reading)}"
    elif not reading.processes:
        yield (
            "no Python process of the command loaded the recorder: the command is not Python, "
            f"or its Python is older than {OLDEST} or ignores its environment (`-I`, `-E`, `-S`)"
        )
    elif reading.source is Source.LOGS:
        yield "torch's own logs have no steps, so no line has a price"
    elif all(one.process.torch is None for one in reading.processes):
        yield "no process of the command imported torch"
    elif not chosen:
        yield (
            "torch was imported, but nothing was compiled and no step was made; if there is a "
            "loop, name a line of it with --step-marker FILE:LINE"
        )
    elif all(one.steps is None for one in chosen):
        yield (
            "no step was found: nothing called `backward()` or an optimizer's `step()` often "
            "enough; name a line of your loop with --step-marker FILE:LINE"
        )


def _of_block(reading: Reading, chosen: Sequence[Recorded]) -> Iterator[str]:
    if all(one.process.torch is None for one in reading.processes):
        yield "torch was not imported"
    elif not chosen:
        yield "nothing new was compiled, and no step was made"


def _elsewhere(chosen: Sequence[Recorded]) -> Iterator[str]:
    """Ranks of which nothing was recorded here."""
    here = {one.process.rank for one in chosen if one.process.rank is not None}
    all_of_them = max((one.process.world_size or 0 for one in chosen), default=0)
    if here and len(here) < all_of_them:
        yield (
            f"{len(here)} of {all_of_them} ranks were recorded: "
            "processes on other machines are not, run tclint there as well"
        )


def _unfinished(pid: int, reading: Reading) -> str:
    """Why a process did not write that it ended."""
    if pid in reading.lost:
        reason = os.strerror(reading.lost[pid]).lower()
        return f"process {pid} could not write all of its recording: {reason}"
    return f"process {pid} was killed; what it wrote until then is reported"


def _reasons(reading: Reading) -> str:
    return ", ".join(sorted({os.strerror(number).lower() for number in reading.lost.values()}))


def _unseen(reading: Reading, chosen: Sequence[Recorded]) -> Iterator[str]:
    """Why no line has a price although there were steps."""
    steps = chosen[0].steps if chosen else None
    if steps is not None and not sampled(chosen[0]).stacks:
        fewer = "" if reading.source is Source.BLOCK else ", or lower --warm-up"
        yield (
            f"no line has a price: the recorder samples lines after {steps.warm_up} steps, and "
            f"only {len(steps.ends)} were made; let it run longer{fewer}"
        )
