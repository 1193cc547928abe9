"""Which files a run looks at: what was named, and what the named folders hold."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Final, Protocol

from tclint.records import record
from tclint.source.errors import FileError, reason
from tclint.source.ignores import GITIGNORE, Ignores
from tclint.source.patterns import Patterns, compile_patterns

FILE_NAMES: Final = ("tclint.toml", "pyproject.toml")
"""The files that configure a folder."""


class Wanted(Protocol):
    """What a configuration says of the files to look at; patterns are relative to ``root``."""

    @property
    def root(self) -> Path:
        """Where the configuration stands."""

    @property
    def include(self) -> tuple[str, ...]:
        """Patterns of the files to take."""

    @property
    def exclude(self) -> tuple[str, ...]:
        """Patterns of what to leave out."""

    @property
    def extend_exclude(self) -> tuple[str, ...]:
        """More of those."""

    @property
    def respect_gitignore(self) -> bool:
        """Whether to leave out what Git ignores."""

    @property
    def force_exclude(self) -> bool:
        """Whether the patterns hold for named files as well."""


@record(frozen=True)
class Discovery:
    """The files to check, in the order of their paths, and the paths that could not be followed.

    ``walked`` are the real folders that were looked into, ``configured`` those of them in which
    there may be a configuration. ``is_cut`` says that there were more entries than were asked for.
    """

    files: tuple[Path, ...]
    errors: tuple[FileError, ...]
    configured: frozenset[str] = frozenset()
    walked: tuple[str, ...] = ()
    is_cut: bool = False


def discover(paths: Sequence[Path], wanted: Wanted, most: int | None = None) -> Discovery:
    """Find the Python files below ``paths``, looking at ``most`` entries of folders.

    A file named in ``paths`` is taken whatever the patterns say, unless ``force-exclude`` is set;
    stubs (``.pyi``) never are. Folders are walked without following links to folders. A file
    reached twice is taken once.
    """
    search = _search(wanted)
    search.left = most
    for path in paths:
        try:
            is_folder = stat.S_ISDIR(path.stat().st_mode)
        except OSError as error:
            search.errors.append(FileError(path, f"cannot read: {reason(error)}"))
            continue
        if wanted.force_exclude and search.excluded(path, folder=is_folder):
            continue
        if is_folder:
            search.folder(path)
        else:
            search.file(path)
    files = sorted(search.found.values(), key=lambda path: path.parts)
    return Discovery(
        tuple(files),
        tuple(search.errors),
        frozenset(search.configured),
        tuple(search.walked),
        is_cut=search.left is not None and search.left < 0,
    )


def is_excluded(path: Path, wanted: Wanted) -> bool:
    """Whether the patterns leave a file out, or a folder above it."""
    return _search(wanted).excluded(path, folder=False)


def _search(wanted: Wanted) -> _Search:
    return _Search(
        root=Path(os.path.realpath(wanted.root)),
        include=compile_patterns(wanted.include),
        exclude=compile_patterns((*wanted.exclude, *wanted.extend_exclude)),
        gitignore=wanted.respect_gitignore,
    )


@record()
class _Search:
    """One discovery under way; ``found`` maps real paths to the paths to show."""

    root: Path
    include: Patterns
    exclude: Patterns
    gitignore: bool
    found: dict[str, Path] = field(default_factory=dict)
    errors: list[FileError] = field(default_factory=list)
    configured: set[str] = field(default_factory=set)
    walked: list[str] = field(default_factory=list)
    left: int | None = None

    def file(self, path: Path) -> None:
        """Take a file that was named."""
        if path.suffix != ".pyi":
            self.found.setdefault(os.path.realpath(path), path)

    def folder(self, path: Path) -> None:
        """Walk a folder that was named."""
        real = os.path.realpath(path)
        self._walk(path, real, Ignores.above(Path(real)) if self.gitignore else None)

    def excluded(self, path: Path, *, folder: bool) -> bool:
        """Whether a named path, or a folder above it, is excluded."""
        try:
            parts = Path(os.path.realpath(path)).relative_to(self.root).parts
        except ValueError:
            return False
        return any(
            self.exclude.match("/".join(parts[:n]), name, folder=folder or n < len(parts))
            for n, name in enumerate(parts, start=1)
        )

    def _walk(self, shown: Path, real: str, ignores: Ignores | None) -> None:
        """Take the files of one folder, then go into its folders.

        Explicit stack instead of recursion: a tree may be deeper than Python's stack.
        """
        stack = [(shown, real, ignores)]
        while stack:
            shown, real, ignores = stack.pop()
            self.walked.append(real)
            try:
                with os.scandir(real) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError as error:
                self.errors.append(FileError(shown, f"cannot read folder: {reason(error)}"))
                continue
            if self.left is not None:
                self.left -= len(entries)
                if self.left < 0:
                    return
            if ignores is not None and any(entry.name == GITIGNORE for entry in entries):
                ignores = ignores.enter(real)
            if any(entry.name in FILE_NAMES for entry in entries):
                self.configured.add(real)
            base = self._relative(real)
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if not self._left_out(entry, base, ignores, folder=True):
                        stack.append((shown / entry.name, entry.path, ignores))
                elif self._wanted(entry, base) and not self._left_out(
                    entry, base, ignores, folder=False
                ):
                    self._take(shown / entry.name, entry)

    def _wanted(self, entry: os.DirEntry[str], base: str) -> bool:
        name = entry.name
        if name.endswith(".pyi"):
            return False
        return self.include.match(base + name, name, folder=False) is True

    def _left_out(
        self, entry: os.DirEntry[str], base: str, ignores: Ignores | None, *, folder: bool
    ) -> bool:
        if self.exclude.match(base + entry.name, entry.name, folder=folder):
            return True
        return ignores is not None and ignores.match(entry.path, entry.name, folder=folder)

    def _take(self, shown: Path, entry: os.DirEntry[str]) -> None:
        """Take a file of a walk; editors leave dangling links, and pipes would block."""
        try:
            if not entry.is_file():
                return
        except OSError:
            # A link that points to itself, or to where we may not look.
            return
        if entry.is_symlink():
            self.found.setdefault(os.path.realpath(entry.path), shown)
        elif (earlier := self.found.get(entry.path)) is None or earlier.is_symlink():
            self.found[entry.path] = shown

    def _relative(self, real: str) -> str:
        """The prefix of names in a folder, as the configuration's patterns see them."""
        try:
            relative = Path(real).relative_to(self.root).as_posix()
        except ValueError:
            return ""
        return "" if relative == "." else relative + "/"
