"""Read what the recorder wrote: JSON lines into records, whatever else stands between them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Any

from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.run.recorded import (
    KINDS,
    Gradients,
    Loss,
    Process,
    Recorded,
    Samples,
    Syncs,
    Watch,
)
from tclint.verify.wire import WireError, rebuild

_PATTERN = "process-*.jsonl"
_LOST = re.compile(r"lost-(\d{1,9})-(\d{1,9})")
LARGEST = 1 << 30
"""Bytes of what one process recorded."""
_LISTS = {
    "break": "breaks",
    "compiled": "compiled",
    "cudagraph-skip": "skips",
    "loss": "losses",
    "samples": "samples",
    "syncs": "syncs",
    "profile": "profiles",
    "model": "models",
    "cell": "cells",
    "note": "notes",
}
"""Kinds of which a process writes several, and the field that holds them."""


class Source(str, Enum):
    """Who wrote a recording; logs of torch's own tell of no steps."""

    COMMAND = "command"
    BLOCK = "block"
    LOGS = "logs"


@record(frozen=True)
class Reading:
    """The processes of one command in the order in which they began.

    ``damaged`` counts the lines that could not be read: the last one of a process that was killed
    while it wrote, or what somebody else put there. ``lost`` are the processes that could not
    write all, with the number of the error. ``gone`` says that there is no folder any more.
    """

    processes: tuple[Recorded, ...]
    damaged: int = 0
    source: Source = Source.COMMAND
    lost: Mapping[int, int] = field(default_factory=dict)
    gone: bool = False


def read_folder(folder: Path) -> Reading:
    """All that the recorder left in a folder; a process that never named itself is left out."""
    found, damaged = [], 0
    for file in sorted(folder.glob(_PATTERN)):
        one, wrong = read_process(file)
        damaged += wrong
        if one is not None:
            found.append(one)
    return Reading(
        tuple(sorted(found, key=lambda one: one.process.started)),
        damaged,
        lost=_lost(folder),
        gone=not folder.is_dir(),
    )


def _lost(folder: Path) -> dict[int, int]:
    """The processes that could not write a line, and why: files without content say so."""
    names = (_LOST.fullmatch(path.name) for path in folder.glob("lost-*"))
    return {int(found[1]): int(found[2]) for found in names if found}


def read_process(file: Path) -> tuple[Recorded | None, int]:
    """One process, and how many of its lines were damaged."""
    kept: dict[str, list[Any]] = defaultdict(list)
    damaged = 0
    for line in read_text(file, LARGEST, "replace").splitlines():
        try:
            kind, entry = _entry(line)
        except ValueError:
            damaged += 1
        else:
            kept[kind].append(entry)
    if not kept["process"]:
        return None, damaged
    fields: dict[str, Any] = {name: tuple(kept[kind]) for kind, name in _LISTS.items()}
    fields |= {kind: entries[-1] for kind, entries in _single(kept)}
    return Recorded(file, **fields), damaged


def _single(kept: dict[str, list[Any]]) -> Iterator[tuple[str, list[Any]]]:
    for kind, entries in kept.items():
        if kind not in _LISTS and entries:
            yield kind, entries


def _entry(line: str) -> tuple[str, Any]:
    data = parse_json(line) if line.startswith("{") else None
    kind = data.pop("kind", None) if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise WireError("no line of the recorder's")
    entry: Any = rebuild(KINDS[kind], data)
    _require_meaning(entry)
    return kind, entry


def _require_meaning(entry: object) -> None:
    """Make sure that the stacks which an entry numbers are in it, and that a loss is a number."""
    match entry:
        case Samples(hits=hits, stacks=stacks):
            numbers = [number for _, number in hits]
        case Watch(hits=hits, stacks=stacks, places=places):
            numbers = [number for _, number in hits]
            if not all(0 <= at < len(places) for stack in stacks for at in stack):
                raise WireError("it names a place that it does not have")
        case Syncs(events=events, backward=backward, stacks=stacks):
            numbers = [*backward, *(number for _, number in events)]
        case Gradients(numbers=pairs, stacks=stacks):
            numbers = [number for _, number in pairs]
        case Loss(value=value):
            numbers, stacks = [], ()
            _require_number(value)
        case _:
            return
    if not all(0 <= number < len(stacks) for number in numbers):
        raise WireError("it names a stack that it does not have")


def _require_number(text: str) -> None:
    try:
        float.fromhex(text)
    except OverflowError as error:
        raise WireError("no number is that large") from error


def training(reading: Reading) -> tuple[Recorded, ...]:
    """The processes that made steps: one, or one for each rank; else those that compiled."""
    stepping = [one for one in reading.processes if one.steps is not None]
    compiling = [one for one in reading.processes if one.compiled]
    chosen = stepping or compiling
    return tuple(sorted(chosen, key=lambda one: _rank(one.process)))


def _rank(process: Process) -> int:
    return -1 if process.rank is None else process.rank
