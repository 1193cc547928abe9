"""What a report rests on besides the question: remembered, so that it can be printed again."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

from tclint.cache.freshness import SETTLED, surroundings
from tclint.cache.identity import code_files
from tclint.cache.report_cache import entries, listing, question, stamp
from tclint.cache.store import lag_of, write
from tclint.config import Config
from tclint.lint.engine import Run
from tclint.records import record
from tclint.source.discovery import FILE_NAMES
from tclint.source.ignores import EXCLUDE, GITIGNORE, REPOSITORY

SPEAKING = (*FILE_NAMES, GITIGNORE)
"""Files that say something about the folder they are in, and those below."""


@record(frozen=True)
class Sources:
    """Where a run gets what it works on.

    ``named`` are the paths on the command line, ``files`` those that they stand for, and
    ``walked`` the folders that were looked into for them.
    """

    named: Sequence[Path]
    files: Sequence[Path]
    walked: Sequence[str]
    configs: Sequence[Config]


class _Home:
    """The folder that a run makes its cache in, which changes the folder's times.

    So it is known by what is in it: ``names``, with the cache. ``before`` is from after the look
    at them, so that what is old enough there vouches for them.
    """

    def __init__(self, cache: Path) -> None:
        self.folder: Final = os.path.abspath(cache.parent)  # noqa: PTH100 (links stay)
        self._is_new: Final = not cache.exists()
        self.names: Final = sorted([*entries(self.folder), f"{cache.name}/"])
        self.before: Final = stamp(self.folder)

    def among(self, paths: Iterable[str]) -> list[str]:
        """The paths that name it, if nothing but the cache has come."""
        if not self._is_new or entries(self.folder) != self.names:
            return []
        named = [path for path in paths if os.path.abspath(path) == self.folder]  # noqa: PTH100
        return [path for path in named if stamp(path) == stamp(self.folder)]  # `link/..` is not


class Recorder:
    """Remembers the report of a run, if nothing of what it rests on changes under it."""

    def __init__(self, folder: Path, sources: Sources, started: int) -> None:
        """Look at everything before the run; ``started`` is when it began, in nanoseconds."""
        self._folder, self._sources, self._started = folder, sources, started
        self._home = _Home(folder)
        self._before = {path: stamp(path) for path in self._paths()}

    def record(self, run: Run, text: str, code: int, aside: str = "") -> None:
        """Remember what a run printed, and said beside it.

        Unless it rests on more than can be looked at again.
        """
        around = run.around
        if around.unseen or any(config.extend for config in self._sources.configs):
            return
        more = (*run.read, *map(str, around.files), *_of_folders(around.folders))
        stamps = {path: stamp(path) for path in (*self._before, *more)}
        home = self._home.among(stamps)
        stamps.update(dict.fromkeys(home, self._home.before))
        if self._may_have_changed(stamps) or (home and None in map(stamps.get, more)):
            return
        there = [(path, os.path.exists(path)) for path in self._markers()]  # noqa: PTH110
        report = {
            "stamps": [(path, known) for path, known in stamps.items() if path not in home],
            "there": there,
            "lists": [(folder, listing(folder)) for folder in self._looked_into()],
            "entries": [(self._home.folder, self._home.names)] if home else [],
            "code": code,
            "text": text,
            "aside": aside,
        }
        with suppress(OSError, AttributeError):
            write(self._folder, question(sys.argv[1:]), report)

    def _may_have_changed(self, stamps: Mapping[str, list[int] | None]) -> bool:
        """Whether something was written under the run, or so shortly before it that who knows."""
        latest = max(max(times[:2]) for times in stamps.values() if times is not None)
        changed = any(stamps[path] != known for path, known in self._before.items())
        return changed or latest >= self._started - SETTLED - lag_of(self._folder)

    def _paths(self) -> Iterator[str]:
        """What is looked at besides the files that the analysis reads."""
        yield from map(str, (*self._sources.named, *self._sources.files))
        for config in self._sources.configs:
            yield from surroundings(config)
            yield from config.torch.files
            yield from [str(config.source)] if config.source else []
        yield from _of_folders(self._sources.walked)
        for folder in self._above():
            yield from _in(folder, (*SPEAKING, EXCLUDE))
        yield from sys.path[1:]
        yield from code_files()

    def _markers(self) -> Iterator[str]:
        """What only matters by being there."""
        for folder in self._above():
            yield from _in(folder, (REPOSITORY, "__init__.py"))

    def _looked_into(self) -> Iterator[str]:
        """The folders in which another file might tell which torch the project is for."""
        for config in self._sources.configs:
            yield from config.torch.folders

    def _above(self) -> list[str]:
        """The folders around what was named, up to the root."""
        named = [path.absolute() for path in self._sources.named]
        above = chain.from_iterable(
            path.parents for path in (*named, *map(Path, map(os.path.realpath, named)))
        )
        return [*map(str, dict.fromkeys(above))]


def _of_folders(folders: Iterable[str]) -> Iterator[str]:
    """Folders that were looked into, and what in them says something about the others."""
    for folder in folders:
        yield folder
        # Others that come will change the folder.
        yield from filter(os.path.exists, _in(folder, SPEAKING))


def _in(folder: str, names: Iterable[str]) -> list[str]:
    return [os.path.join(folder, name) for name in names]  # noqa: PTH118
