"""Find the files of a recording that was made elsewhere: another folder, another machine."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TypeVar

from tclint.files import is_file
from tclint.run.read import Reading
from tclint.run.recorded import Place, Recorded, Samples, Syncs

_Stacks = TypeVar("_Stacks", Samples, Syncs)
_NAMED = re.compile(r'File "([^"\n]+)", line')


def moved(reading: Reading, root: Path) -> Reading:
    """The same with the names of files that are not here replaced by those below ``root``.

    A file is the one with the longest end of its path in common: `/home/you/net/model.py` is
    `net/model.py` here, or else `model.py`.
    """
    places = {}
    for name in dict.fromkeys(name for one in reading.processes for name in _names(one)):
        found = None if is_file(name) else _below(root, name)
        if found is not None:
            places[name] = str(found)
    return renamed(reading, places) if places else reading


def renamed(reading: Reading, places: Mapping[str, str]) -> Reading:
    """The same with other names for some files."""
    return replace(reading, processes=tuple(_moved(one, places) for one in reading.processes))


def _names(one: Recorded) -> Iterator[str]:
    for entry in one.breaks:
        yield from _NAMED.findall(entry.text)
    for compiled in one.compiled:
        yield compiled.filename


def files_of(one: Recorded) -> frozenset[str]:
    """All files that a process names."""
    stacks = [stack for samples in one.samples for stack in samples.stacks]
    stacks += [stack for syncs in one.syncs for stack in syncs.stacks]
    steps = () if one.steps is None else (one.steps.place,)
    watched = () if one.watch is None else one.watch.places
    places = itertools.chain(steps, watched, *stacks)
    return frozenset((*_names(one), *(place.filename for place in places)))


def _below(root: Path, name: str) -> Path | None:
    pure = PureWindowsPath(name) if "\\" in name else PurePosixPath(name)
    parts = pure.parts[1:] if pure.is_absolute() else pure.parts
    for first in range(len(parts)):
        path = root.joinpath(*parts[first:])
        if os.pardir not in parts and is_file(path):
            return path
    return None


def _moved(one: Recorded, places: Mapping[str, str]) -> Recorded:
    def text(given: str) -> str:
        for old, new in places.items():
            given = given.replace(f'"{old}"', f'"{new}"').replace(f"{old}:", f"{new}:")
        return given

    def place(given: Place) -> Place:
        return replace(given, filename=places.get(given.filename, given.filename))

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
        compiled=tuple(
            replace(
                entry,
                filename=places.get(entry.filename, entry.filename),
                recompile_reason=text(entry.recompile_reason),
            )
            for entry in one.compiled
        ),
    )
