"""How a run is carried out: over which files, by how many processes, with which memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from tclint.children import may_share_work
from tclint.config import Config
from tclint.errors import UserError
from tclint.lint.outcome import Outcome
from tclint.lint.outlines import Import
from tclint.lint.shards import Shard
from tclint.records import record

MOST: Final = 16
"""Processes unless somebody asks for more: each takes up to 800 MB."""
WORTH: Final = 2_000_000
"""Bytes of source that others must take off the longest of them to be worth their start."""


class Caller(NamedTuple):
    """A file that calls into others, and the names of its definitions that do."""

    path: Path
    names: frozenset[str]


@record(frozen=True)
class Around:
    """The files of a project besides those that are checked.

    ``files`` may be imported, ``callers`` are those of them that are walked with the checked ones.
    ``left_out`` is the number of callers that are too many. ``folders`` were looked into for all of
    them, and ``unseen`` is a folder that is too large for that, None where there is none.
    ``unread`` is the number of files that are too many to be searched for callers.
    """

    files: tuple[Path, ...] = ()
    callers: tuple[Caller, ...] = ()
    left_out: int = 0
    folders: tuple[str, ...] = ()
    unseen: Path | None = None
    unread: int = 0


ALONE: Final = Around()


@record(frozen=True)
class Program:
    """The files of a run, the configuration, the texts that stand in for files, and the rest."""

    paths: Sequence[Path]
    config: Config
    overlay: Mapping[Path, str] = field(default_factory=dict)
    around: Around = ALONE

    @property
    def every(self) -> tuple[Path, ...]:
        """All files that can be imported, in the order of a run over their folder."""
        own = (*self.paths, *self.overlay)
        return in_order((*own, *self.around.files)) if self.around.files else own

    def walked(self, shard: Shard) -> Shard:
        """The files that are walked for the sake of a shard."""
        callers = [caller.path for caller in self.around.callers]
        return in_order((*shard, *callers)) if callers else shard

    @property
    def only(self) -> dict[Path, frozenset[str]]:
        """What of the callers is walked."""
        return dict(self.around.callers)


def in_one_place(all_around: Iterable[Around]) -> Around:
    """What is around the parts of a run."""
    every = [*all_around]
    return Around(
        tuple(path for one in every for path in one.files),
        tuple(caller for one in every for caller in one.callers),
        sum(one.left_out for one in every),
        tuple(folder for one in every for folder in one.folders),
        next((one.unseen for one in every if one.unseen), None),
        sum(one.unread for one in every),
    )


def in_order(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Files in the order in which a run over their folder has them."""
    here = Path.cwd()
    return tuple(sorted(dict.fromkeys(paths), key=lambda path: (here / path).parts))


class Store(Protocol):
    """What remembers outcomes from run to run."""

    @property
    def folder(self) -> Path:
        """Where it keeps them."""

    def part(self, name: str) -> Store:
        """The memory of a part of the run, apart from the others."""

    def imports(self, paths: Sequence[Path]) -> Iterable[tuple[Path, Iterable[Import]]]:
        """What files import, remembered or read."""

    def outcomes(
        self, program: Program, parts: Sequence[Shard], execution: Execution
    ) -> list[Outcome]:
        """The outcomes of shards, remembered or worked out."""


class WorkerError(UserError):
    """Raised when a worker process dies."""


@record(frozen=True)
class Execution:
    """How to work, which makes no difference to what is found.

    ``jobs`` is the number of processes, 0 for as many as there are processors and work for.
    ``advance`` is told how many files are done. ``goes_on`` says that this process has more to do
    behind the run, so that it gives back the memory of it; ``ends``, that it is about to end, so
    that nothing that the run leaves is taken apart.
    """

    jobs: int = 1
    cache: Store | None = None
    advance: Callable[[int], None] | None = None
    goes_on: bool = False
    ends: bool = False

    def count(self, shard: Shard) -> None:
        """Tell that a shard is done."""
        if self.advance is not None:
            self.advance(len(shard))


IN_PROCESS: Final = Execution()


def workers(parts: Sequence[Shard], jobs: int) -> int:
    """How many processes are to examine shards; one where more would save nothing."""
    if len(parts) < 2 or jobs == 1 or not may_share_work():
        return 1
    number = min(jobs or min(processors(), MOST), len(parts))
    sizes = [*map(size, parts)]
    return number if sum(sizes) - max(*sizes, sum(sizes) // number) >= WORTH else 1


def size(shard: Shard) -> int:
    """The bytes of a shard's files, as far as they are to be had."""
    total = 0
    for path in shard:
        with suppress(OSError):
            total += path.stat().st_size
    return total


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
