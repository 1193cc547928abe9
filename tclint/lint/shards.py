"""Shards: the files of a run in groups, each of which is analysed on its own.

A small project is one shard. A large one is cut between folders, so that what belongs together
stays together: memory is then bounded by the largest shard, processes can share the work, and a
change makes only those shards stale that read the changed file. A shard follows imports into the
files of all others, so nothing is invisible from it; what it does not see is with which arguments
the others call its functions.

The cuts depend on the paths alone, and mostly on those close by: neither the number of processes
nor a new file elsewhere moves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final
from zlib import crc32

WHOLE: Final = 512
"""A run of no more files is one shard."""

SMALLEST: Final = 256
LARGEST: Final = 1024
ONE_IN: Final = 8
"""Behind ``SMALLEST`` files, one folder in so many begins a shard; behind ``LARGEST`` any file."""

Shard = tuple[Path, ...]


def shards(paths: Sequence[Path]) -> tuple[Shard, ...]:
    """Cut the files of a run into shards; their order stays."""
    if len(paths) <= WHOLE:
        return (tuple(paths),) if paths else ()
    places = [0, *_cuts(paths), len(paths)]
    return tuple(tuple(paths[start:end]) for start, end in pairwise(places))


def _cuts(paths: Sequence[Path]) -> Iterator[int]:
    start, folder = 0, paths[0].parts[:-1]
    for place, path in enumerate(paths):
        size, entered = place - start, path.parts[:-1] != folder
        folder = path.parts[:-1]
        if size >= LARGEST or (size >= SMALLEST and entered and _is_chosen(folder)):
            start = place
            yield place


def _is_chosen(folder: Sequence[str]) -> bool:
    """Chance, but the same in every run; names of two levels are enough to tell folders apart."""
    return crc32("/".join(folder[-2:]).encode("utf-8", "surrogatepass")) % ONE_IN == 0
