"""The files of one configuration as one program that is analysed again and again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.files import SIZE, version_of
from tclint.lint import execution as lint
from tclint.lint.engine import Run, assembled
from tclint.lint.examine import Examiner
from tclint.semantics.installed import installed_packages
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.project import Project
from tclint.semantics.symbols import ModuleInfo
from tclint.server.kept import KeptReader
from tclint.server.neighbours import KnownImports, Neighbours

WHOLE: Final = 200_000
"""Bytes of Python in a folder up to which all its files are checked with each open one."""
CLOSED: Final = 200_000
"""Bytes of closed files that are read for the sake of open ones in a larger folder."""


class Program:
    """Files that an editor shows and those around them.

    A small folder is one program, and its findings are those of ``tclint check FOLDER``. In a
    large one they are those of ``tclint check FILES`` with the open files that import each other,
    as far as the closed files that this takes are no larger than a small folder. ``listed`` are the
    files on disk.
    """

    def __init__(
        self, config: Config, listed: Sequence[Path], known: KnownImports | None = None
    ) -> None:
        self.config = config
        self.is_whole = 0 < sum(map(_size, listed)) <= WHOLE
        self._listed = tuple(listed)
        self._neighbours = Neighbours(listed, known or KnownImports())
        self._reader = KeptReader({})
        self._project: Project | None = None
        self._opened: frozenset[Path] = frozenset()
        self._room = CLOSED

    def checked(
        self, path: Path, opened: Sequence[Path], overlay: Mapping[Path, str]
    ) -> tuple[Path, ...]:
        """The files to check for the sake of one, of those that are open."""
        if self.is_whole:
            wanted = {*opened, *self._listed}
        else:
            wanted = self._related(path, opened, self._at(overlay))
        return tuple(sorted(wanted, key=lambda path: path.parts))

    def check(self, paths: Sequence[Path], config: Config, overlay: Mapping[Path, str]) -> Run:
        """Findings in some files, with these texts in the place of what is on disk.

        Raises:
            ConfigError: the configured environment holds no packages, or there are no rules.
        """
        project = self._at(overlay)
        program = self._program(project, paths, config, overlay)
        examiner = Examiner(program, (self._reader, project))
        outcome = examiner.examine(tuple(paths))
        return assembled(program, [(tuple(paths), outcome)], examiner.flagged)

    @contextmanager
    def interpreted(
        self, paths: Sequence[Path], overlay: Mapping[Path, str]
    ) -> Iterator[tuple[Project, Analysis]]:
        """What the analysis believes of all values; it is gone behind the block."""
        whole = self._at(overlay)
        program = self._program(whole, paths, self.config, overlay)
        project = whole.another()
        walked = program.walked(tuple(paths))
        for path in walked:
            project.module_at(path)
        analysis = interpret(project, walked, self.config, (), only=program.only)
        try:
            yield project, analysis
        finally:
            analysis.release()
            self._reader.forget()

    def _at(self, overlay: Mapping[Path, str]) -> Project:
        """The index of the files; it stays while no file comes or goes."""
        self._reader.show(overlay)
        self._room = CLOSED
        opened = frozenset(overlay)
        if self._project is None or self._opened != opened:
            self._opened = opened
            ordered = sorted({*self._listed, *opened}, key=lambda path: path.parts)
            self._project = Project(ordered, self._load, installed_packages(self.config))
        return self._project

    def _load(self, name: str, path: Path) -> ModuleInfo | None:
        """The symbol table of a file; None where there is no more room for closed ones."""
        if not self.is_whole and path not in self._opened:
            size = _size(path)
            if size > self._room:
                return None
            self._room -= size
        return self._reader.load(name, path)

    def _program(
        self, project: Project, paths: Sequence[Path], config: Config, overlay: Mapping[Path, str]
    ) -> lint.Program:
        """Files to check, with the closed ones that call into them."""
        if self.is_whole:
            return lint.Program(paths, config, overlay)
        around = self._neighbours.around(project, paths, config, overlay)
        return lint.Program(paths, config, overlay, around)

    def _related(self, path: Path, opened: Sequence[Path], project: Project) -> set[Path]:
        """A file with the open ones that lead to it or that it leads to, by what they import."""
        project = project.another()
        links: dict[Path, set[Path]] = {one: set() for one in opened}
        for one in opened:
            for other in _imported(one, project):
                if other in links:
                    links[one].add(other)
                    links[other].add(one)
        found, pending = {path}, [path]
        while pending:
            fresh = links.get(pending.pop(), set()) - found
            found |= fresh
            pending += fresh
        return found


def _imported(path: Path, project: Project) -> Iterator[Path]:
    """The files of a project that the imports of one lead to."""
    module = project.module_at(path)
    if module is None:
        return
    folder = str(path.parent)
    for name in (*module.imports.values(), *module.stars):
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            found = project.find(folder, ".".join(parts[:end]))
            if found is not None:
                yield found


def _size(path: Path) -> int:
    version = version_of(path)
    return version[SIZE] if version is not None else 0
