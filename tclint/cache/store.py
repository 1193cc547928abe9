"""The cache: what the last run over the same paths found, and what that rested on.

One file holds a run. It is replaced in one step, so that readers see the old one or the new one.
Whatever is wrong with it makes it as good as absent.
"""

from __future__ import annotations

import json
import os
import re
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from errno import EEXIST, EFBIG
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tclint.cache.envelope import (
    FINDINGS,
    IMPORTS,
    LARGEST,
    REPORT,
    UNUSABLE,
    packed,
    unpacked,
)
from tclint.cache.freshness import Memory
from tclint.cache.identity import digest_of, identity, is_present, settings
from tclint.files import read_own, read_text, too_large
from tclint.lint.examined import examined
from tclint.records import record
from tclint.source.errors import reason

if TYPE_CHECKING:
    from tclint.config import Config
    from tclint.lint.execution import Execution, Program
    from tclint.lint.outcome import Outcome
    from tclint.lint.outlines import Import
    from tclint.lint.shards import Shard

UNFINISHED: Final = ".new"
"""What is being written by the run that has the folder locked: left by a killed one if none has."""
UNLOCKED: Final = ".part"
"""What is being written by a run that did not get the lock, or where there are no locks."""
ABANDONED: Final = 3_600 * 10**9
"""Nanoseconds after which an unlocked file that was not written to its end counts as left."""
KEPT: Final = 16
"""Runs that are kept: over other paths, or with other settings. The same for their reports."""
_TAG: Final = "CACHEDIR.TAG"
_NOTES: Final = {
    _TAG: "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# What tclint found before. `tclint clean` removes it.\n",
    ".gitignore": "*\n",
}
"""What a cache holds besides runs: the tag first, since it makes the folder ours."""
_ENDINGS: Final = "|".join(map(re.escape, (UNFINISHED, UNLOCKED)))
_LEFT: Final = re.compile(
    rf"(?:{'|'.join(map(re.escape, _NOTES))}|[0-9a-f]+\.[a-z]+)[a-z0-9_]{{8}}(?:{_ENDINGS})"
)
"""What a killed run may leave, even before the tag says whose folder it is."""


@record(frozen=True)
class Cache:
    """A folder of remembered runs; ``label`` tells runs apart: the paths on the command line."""

    folder: Path
    label: tuple[str, ...] = ()

    def outcomes(
        self, program: Program, parts: Sequence[Shard], execution: Execution
    ) -> list[Outcome]:
        """The outcomes of shards: remembered where all that they rest on is as it was."""
        name = self._name(program.config)
        memory = Memory(program, read(self.folder / name))
        known = {shard: memory.recall(shard) for shard in parts}
        stale = [shard for shard, outcome in known.items() if outcome is None]
        for shard in known.keys() - stale:
            execution.count(shard)
        if stale:
            fresh, _ = examined(program, stale, execution)
            known.update(zip(stale, fresh, strict=True))
        outcomes = [outcome for outcome in known.values() if outcome is not None]
        if stale or memory.touched:
            rows = [*zip(parts, outcomes, strict=True)]
            write(self.folder, name, [identity(), memory.of(rows, lag_of(self.folder))])
        return outcomes

    def imports(self, paths: Sequence[Path]) -> list[tuple[Path, tuple[Import, ...]]]:
        """What files import: remembered where they are as they were."""
        from tclint.cache.imports import Imports, name_of

        name = digest_of(name_of(paths).encode("utf-8", "surrogatepass")) + IMPORTS
        imports = Imports(read(self.folder / name))
        found = imports.of(paths)
        if imports.is_new:
            write(self.folder, name, [identity(), imports.rows(lag_of(self.folder))])
        return found

    def part(self, name: str) -> Cache:
        """The same folder for a part of the run, which is remembered by itself."""
        return replace(self, label=(*self.label, name))

    def _name(self, config: Config) -> str:
        key = json.dumps([self.label, os.getcwd(), settings(config)])  # noqa: PTH109
        return digest_of(key.encode()) + FINDINGS


def read(file: Path) -> Any:
    """What a cache file remembers; None if it is damaged, or of another tclint or other rules."""
    try:
        writer, memory = unpacked(read_own(str(file), LARGEST))
        return memory if is_present(writer) else None
    except UNUSABLE:
        return None


def write(folder: Path, name: str, content: object) -> None:
    """Put a run into the folder; a folder that takes none costs a warning, never the run."""
    from tclint.scratch import locked  # a run that only remembers has no use for it

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with locked(folder) as is_locked:
            ending = UNFINISHED if is_locked else UNLOCKED
            _prepare(folder, ending)
            data = packed(content)
            if len(data) > LARGEST:
                raise OSError(EFBIG, too_large(len(data), LARGEST))
            _replace(folder / name, data, ending)
            _prune(folder, name, is_locked=is_locked)
    except OSError as error:
        message = f"tclint: cannot write the cache {folder}: {reason(error)}; use --no-cache"
        warnings.warn(message, RuntimeWarning, stacklevel=2)


def lag_of(folder: Path) -> int:
    """Nanoseconds by which the clock that dates a folder's files is behind ours: a server's may be.

    Zero where no file can be written, and where the clock is ahead: then files seem younger, and
    are read again.
    """
    from tempfile import TemporaryFile

    try:
        folder.mkdir(parents=True, exist_ok=True)
        _require_own(folder)
        before = time.time_ns()
        with TemporaryFile(dir=folder) as file:
            file.write(b"\0")
            file.flush()
            return max(before - os.fstat(file.fileno()).st_mtime_ns, 0)
    except OSError:
        return 0


def _prepare(folder: Path, ending: str) -> None:
    _require_own(folder)
    for name, text in _NOTES.items():
        note = folder / name
        if _text(note) in (None, ""):
            _replace(note, text.encode(), ending)


def _require_own(folder: Path) -> None:
    """Refuse a folder that holds other things: Git would ignore whatever else is there."""
    if _is_ours(folder) or all(_LEFT.fullmatch(entry.name) for entry in folder.iterdir()):
        return
    raise FileExistsError(EEXIST, "it holds other files, and a cache needs a folder of its own")


def _is_ours(folder: Path) -> bool:
    # A disk that was full leaves it empty.
    return _text(folder / _TAG) in {"", _NOTES[_TAG]}


def _text(note: Path) -> str | None:
    """What a note says; None where there is none."""
    try:
        return None if note.is_symlink() else read_text(note)
    except (OSError, UnicodeDecodeError):
        return None


def _replace(file: Path, data: bytes, ending: str) -> None:
    """Put a file in another's place, in one step; a link is replaced, not followed."""
    from tempfile import mkstemp  # brings in much that a run that only remembers has no use for

    descriptor, temporary = mkstemp(prefix=file.name, suffix=ending, dir=file.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _prune(folder: Path, newest: str, *, is_locked: bool) -> None:
    """Remove what was written longest ago of its kind, and what killed runs have left."""
    ages: list[tuple[int, str]] = []
    kind = Path(newest).suffix
    for entry in _entries(folder, kind, UNFINISHED, UNLOCKED):
        if entry.name == newest:
            continue
        with suppress(FileNotFoundError):  # another run has been faster
            age = time.time_ns() - entry.stat(follow_symlinks=False).st_mtime_ns
            if entry.name.endswith(kind):
                ages.append((age, entry.path))
            elif age > ABANDONED or (is_locked and entry.name.endswith(UNFINISHED)):
                Path(entry.path).unlink(missing_ok=True)
    for _, path in sorted(ages)[KEPT - 1 :]:
        Path(path).unlink(missing_ok=True)


def _entries(folder: Path, *endings: str) -> Iterator[os.DirEntry[str]]:
    """The files of a cache with such names, links among them; a folder is nothing of ours."""
    with os.scandir(folder) as listing:
        for entry in [*listing]:
            if entry.name.endswith(endings) and not entry.is_dir(follow_symlinks=False):
                yield entry


def remove(folder: Path) -> bool:
    """Remove a cache; False if the folder is none of ours.

    Raises:
        OSError: it cannot be removed.
    """
    if not _is_ours(folder):
        return False
    for entry in _entries(folder, FINDINGS, IMPORTS, REPORT, UNFINISHED, UNLOCKED, *_NOTES):
        Path(entry.path).unlink(missing_ok=True)
    with suppress(OSError):  # somebody keeps something else in it
        folder.rmdir()
    return True
