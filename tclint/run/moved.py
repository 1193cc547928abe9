"""Find the files of a recording that was made elsewhere: another folder, another machine."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Final, TypeVar

from tclint.files import is_file
from tclint.records import record
from tclint.run.read import Reading
from tclint.run.recorded import Compiled, Gradients, Place, Recorded, Samples, Syncs

_Stacks = TypeVar("_Stacks", Gradients, Samples, Syncs)
_LONGEST: Final = 4096
"""Characters of a file's name: no system opens a longer one."""
_NAMED = re.compile(r'File "([^"\n]+)", line')


@record(frozen=True)
class Spot:
    """Another name for a file, in which its rows are so many rows further down."""

    name: str
    rows: int = 0


def moved(reading: Reading, root: Path) -> Reading:
    """The same with the names of files that are not here replaced by those below ``root``.

    A file is the one with the longest end of its path in common: `/home/you/net/model.py` is
    `net/model.py` here, or else `model.py`.
    """
    places = {}
    for name in dict.fromkeys(name for one in reading.processes for name in _names(one)):
        found = None if is_file(name) else _below(root, name)
        if found is not None:
            places[name] = Spot(str(found))
    return renamed(reading, places) if places else reading


def renamed(reading: Reading, places: Mapping[str, Spot]) -> Reading:
    """The same with other names for some files."""
    return replace(reading, processes=tuple(_moved(one, places) for one in reading.processes))


def _names(one: Recorded) -> Iterator[str]:
    for entry in one.breaks:
        yield from _NAMED.findall(entry.text)
    for compiled in one.compiled:
        yield compiled.filename


def files_of(one: Recorded) -> frozenset[str]:
    """All files that a process names."""
    steps = () if one.steps is None else (one.steps.place,)
    places = itertools.chain(steps, *stacks_of(one))
    return frozenset((*_names(one), *(place.filename for place in places)))


def stacks_of(one: Recorded) -> Iterator[Sequence[Place]]:
    """All stacks that were seen in a process."""
    looks = [seen.stacks for seen in one.samples] + [seen.stacks for seen in one.syncs]
    for stacks in looks + ([one.gradients.stacks] if one.gradients else []):
        yield from stacks
    if one.watch is not None:
        yield from map(one.watch.stack, range(len(one.watch.stacks)))


def _below(root: Path, name: str) -> Path | None:
    if len(name) > _LONGEST:
        return None
    pure = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    parts = pure.parts[1:] if pure.is_absolute() else pure.parts
    ends = (os.path.join(root, os.sep.join(parts[first:])) for first in range(len(parts)))  # noqa: PTH118
    found = None if os.pardir in parts else next(filter(is_file, ends), None)
    return None if found is None else Path(found)


def _moved(one: Recorded, places: Mapping[str, Spot]) -> Recorded:
    patterns = {name: re.compile(re.escape(name) + r"""(:|", line )(\d{1,9})""") for name in places}

    def text(given: str) -> str:
        for old, spot in places.items():
            if old in given:
                given = patterns[old].sub(partial(_at, spot), given)
        return given

    def place(given: Place) -> Place:
        spot = places.get(given.filename)
        return (
            given if spot is None else replace(given, filename=spot.name, row=given.row + spot.rows)
        )

    def compiled(given: Compiled) -> Compiled:
        at = place(Place(given.filename, given.row))
        reason = text(given.recompile_reason)
        return replace(given, filename=at.filename, row=at.row, recompile_reason=reason)

    def stacks(given: _Stacks) -> _Stacks:
        return replace(given, stacks=tuple(tuple(map(place, one)) for one in given.stacks))

    steps, watch = one.steps, one.watch
    return replace(
        one,
        watch=watch and replace(watch, places=tuple(map(place, watch.places))),
        steps=None if steps is None else replace(steps, place=place(steps.place)),
        losses=tuple(replace(loss, place=place(loss.place)) for loss in one.losses),
        samples=tuple(map(stacks, one.samples)),
        syncs=tuple(map(stacks, one.syncs)),
        breaks=tuple(replace(entry, text=text(entry.text)) for entry in one.breaks),
        gradients=one.gradients and stacks(one.gradients),
        models=tuple(replace(model, place=place(model.place)) for model in one.models),
        compiled=tuple(map(compiled, one.compiled)),
    )


def _at(spot: Spot, place: re.Match[str]) -> str:
    return f"{spot.name}{place[1]}{int(place[2]) + spot.rows}"
