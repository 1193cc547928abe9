"""The ``.gitignore`` files that hold for a folder: its own, and those up to the repository."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from tclint.files import exists, read_bytes
from tclint.records import record
from tclint.source.patterns import Patterns, compile_patterns

GITIGNORE: Final = ".gitignore"
REPOSITORY: Final = ".git"
EXCLUDE: Final = ".git/info/exclude"


@record(frozen=True)
class Ignores:
    """Pattern files from the outermost folder inwards: the innermost that speaks decides."""

    levels: tuple[tuple[str, Patterns], ...] = ()

    @classmethod
    def above(cls, folder: Path) -> Ignores:
        """What holds for ``folder`` itself: the files of its repository above it.

        A folder that was named is wanted, so patterns that ignore it or a folder above it are
        left out. Without a repository only the folders walked themselves speak.
        """
        repository = next((p for p in (folder, *folder.parents) if exists(p / REPOSITORY)), None)
        if repository is None:
            return cls()
        ignores = cls()._with(repository, repository / EXCLUDE)
        for parent in reversed(folder.parents):
            if parent.is_relative_to(repository):
                ignores = ignores._with(parent, parent / GITIGNORE)
        return cls(tuple(level for level in ignores.levels if not _ignored_below(level, folder)))

    @classmethod
    def ignore(cls, path: Path, top: Path) -> bool:
        """Whether a file is ignored, or a folder that it is in, below a repository's top."""
        ignores, place = cls.above(top), top
        for part in path.relative_to(top).parts:
            ignores, place = ignores.enter(str(place)), place / part
            if ignores.match(str(place), part, folder=place != path):
                return True
        return False

    def enter(self, folder: str) -> Ignores:
        """What holds for the entries of ``folder``."""
        return self._with(Path(folder), Path(folder) / GITIGNORE)

    def match(self, path: str, name: str, *, folder: bool) -> bool:
        """Whether one entry is ignored; the folders above it have been asked before."""
        for base, patterns in reversed(self.levels):
            relative = path[len(base) :].lstrip(os.sep).replace(os.sep, "/")
            verdict = patterns.match(relative, name, folder=folder)
            if verdict is not None:
                return verdict
        return False

    def _with(self, base: Path, file: Path) -> Ignores:
        try:
            text = os.fsdecode(read_bytes(file))
        except OSError:
            return self
        patterns = compile_patterns(text.removeprefix("\ufeff").split("\n"))
        return Ignores((*self.levels, (str(base), patterns)))


def _ignored_below(level: tuple[str, Patterns], folder: Path) -> bool:
    base, patterns = level
    parts = folder.relative_to(base).parts
    return any(
        patterns.match("/".join(parts[:n]), parts[n - 1], folder=True)
        for n in range(1, len(parts) + 1)
    )
