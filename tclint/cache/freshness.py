"""Which remembered outcomes still hold: those whose files, imports and surroundings are unchanged.

A shard's outcome rests on the files that it read, wherever they lie. A file is as it was when its
version on disk is; else its content is compared. When files have come or gone, the imports that
were followed are followed again: a new file may be found where an old one was, or nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import starmap
from typing import TYPE_CHECKING, Any, Final

from tclint.cache.encoding import Decoder, Json, encoded
from tclint.cache.envelope import UNUSABLE
from tclint.cache.identity import digest_of
from tclint.config import Config
from tclint.files import SIZE, TooLargeError, Version, read_bytes, version_of
from tclint.lint.outcome import Outcome
from tclint.lint.shards import Shard
from tclint.records import record
from tclint.source.decode import MAX_BYTES

if TYPE_CHECKING:
    from tclint.lint.execution import Program
    from tclint.semantics.project import Project

SETTLED: Final = 2 * 10**9
"""Nanoseconds: a file that was written so shortly before may be written again unseen, since file
systems count time in steps."""

_File = tuple[str, int, int, int, int, str, bool]
"""What is remembered of a file: its name, then its content, as a `_Content` has it."""
_Shard = tuple[list[str], Json, list[int]]
"""What is remembered of a shard: its files, its outcome, and which of the files it read."""


@record(frozen=True)
class _Content:
    """A file as it was; ``settled`` when its version alone vouches for the digest."""

    version: Version
    digest: str
    settled: bool


class Memory:
    """What an earlier run found, and how much of it this run may take over."""

    def __init__(self, program: Program, remembered: Any) -> None:
        """``remembered`` is what :meth:`of` made; None or nonsense when there is nothing."""
        self._settled_before = time.time_ns() - SETTLED
        self._program = program
        named = [*map(str, program.paths)]
        self._versions: dict[str, Version | None] = {name: version_of(name) for name in named}
        known = [*named, *map(str, program.around.files)]
        self._run = [
            _digest(known),
            _digest(f"{path} {sorted(names)}" for path, names in program.around.callers),
            *packages(known),
        ]
        self._contents: dict[str, _Content] = {}
        self._fresh: dict[str, bool] = {}
        self._shards: dict[tuple[str, ...], Outcome] = {}
        self._same_run = False
        self.touched = False
        try:
            self._load(remembered)
        except (*UNUSABLE, IndexError):
            self._shards, self._contents = {}, {}

    def _load(self, remembered: Any) -> None:
        if remembered is None:
            return
        surroundings = remembered["surroundings"]
        if surroundings != stamps(surroundings):
            return
        if remembered["run"][1:] != self._run[1:]:
            return
        self._same_run = remembered["run"] == self._run
        names = [name for name, *_ in remembered["files"]]
        for name, *version, digest, settled in remembered["files"]:
            written, changed, size, number = version
            if type(name) is not str or type(settled) is not bool:
                raise TypeError(name)
            self._contents[name] = _Content((written, changed, size, number), digest, settled)
        decoder = Decoder({str(path): path for path in self._program.paths})
        for own, data, read in remembered["shards"]:
            outcome = decoder.outcome(data)
            outcome.read = [names[number] for number in read]
            self._shards[tuple(own)] = outcome

    def recall(self, shard: Shard) -> Outcome | None:
        """The outcome of a shard, if it would be the same today."""
        outcome = self._shards.get(tuple(map(str, shard)))
        if outcome is None or not all(map(self._is_fresh, outcome.read)):
            return None
        return outcome if self._same_run or self._finds_the_same(outcome) else None

    def _finds_the_same(self, outcome: Outcome) -> bool:
        from tclint.lint.searches import unpacked

        try:
            return all(starmap(self._leads_there, unpacked(outcome.searches)))
        except ValueError:
            return False

    def _is_fresh(self, name: str) -> bool:
        if name not in self._fresh:
            self._fresh[name] = self._is_same(name)
        return self._fresh[name]

    def _is_same(self, name: str) -> bool:
        known, version = self._contents[name], self._version(name)
        if version == known.version and known.settled:
            return True
        if version is None or version[SIZE] != known.version[SIZE]:
            return False
        self.touched = True
        now = self._content(name)
        return now is not None and now.digest == known.digest

    def _version(self, name: str) -> Version | None:
        if name not in self._versions:
            self._versions[name] = version_of(name)
        return self._versions[name]

    def _leads_there(self, folder: str, name: str, found: str | None) -> bool:
        path = self._project.find(folder, name)
        return found == (None if path is None else str(path))

    @cached_property
    def _project(self) -> Project:
        """The index of the run's files; nothing is loaded from it."""
        from tclint.semantics.project import Project

        return Project(self._program.every, lambda name, path: None)

    def of(self, parts: Sequence[tuple[Shard, Outcome]], lag: int = 0) -> dict[str, Any]:
        """What to remember of a finished run, as JSON takes it.

        ``lag`` are the nanoseconds by which the clock that dates files is behind ours.
        """
        self._settled_before -= lag
        numbers: dict[str, int] = {}
        files: list[_File] = []
        shards: list[_Shard] = []
        for shard, outcome in parts:
            contents = {name: self._lasting_content(name) for name in outcome.read}
            if not outcome.lasting or None in contents.values():
                continue
            for name, content in contents.items():
                if content is not None and name not in numbers:
                    numbers[name] = len(numbers)
                    files.append((name, *content.version, content.digest, content.settled))
            # Names of files are long, and several shards read the same ones.
            read = [numbers[name] for name in outcome.read]
            shards.append(([*map(str, shard)], encoded(replace(outcome, read=[])), read))
        return {
            "run": self._run,
            "surroundings": stamps(surroundings(self._program.config)),
            "files": files,
            "shards": shards,
        }

    def _lasting_content(self, name: str) -> _Content | None:
        """A file's content, unless it has changed since the run began."""
        known = self._contents.get(name)
        if known is not None and known.settled and known.version == self._version(name):
            return known
        return self._content(name)

    def _content(self, name: str) -> _Content | None:
        version = self._version(name)
        if version is None:
            return None
        try:
            digest = digest_of(read_bytes(name, MAX_BYTES))
        except TooLargeError:
            digest = ""  # it is not checked: only the size matters
        except OSError:
            return None
        if version_of(name) != version:
            return None
        return _Content(version, digest, max(version[:SIZE]) < self._settled_before)


def _digest(names: Iterable[str]) -> str:
    return digest_of("\n".join(names).encode("utf-8", "surrogatepass"))


def packages(files: Iterable[str]) -> list[str]:
    """The folders of files, and those above, that are packages: they decide what modules are."""
    here = os.getcwd()  # noqa: PTH109 (these are strings: there are many files)
    pending = {os.path.dirname(name) for name in files}  # noqa: PTH120
    pending = {os.path.join(here, folder) for folder in pending}  # noqa: PTH118
    found: set[str] = set()
    while pending:
        folder = pending.pop()
        if folder not in found and os.path.isfile(f"{folder}/__init__.py"):  # noqa: PTH113
            found.add(folder)
            pending.add(os.path.dirname(folder))  # noqa: PTH120
    return sorted(found)


def surroundings(config: Config) -> list[str]:
    """What tells of changes in the environment: the folders that packages are installed into."""
    if not config.third_party:
        return []
    return [*map(str, (config.root / ".venv", *config.package_folders()))]


def stamps(folders: Iterable[str]) -> dict[str, list[int]]:
    """Folders with their versions: an entry that comes or goes changes them."""
    return {name: [*(version_of(name) or ())] for name in folders}
