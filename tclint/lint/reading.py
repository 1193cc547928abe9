"""Reading the files of a run, once each as far as memory allows, and remembering what was seen."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tclint.lint.execution import Program
from tclint.semantics.collect import collect_module
from tclint.semantics.installed import installed_packages
from tclint.semantics.project import Project
from tclint.semantics.symbols import ModuleInfo
from tclint.source.decode import read_source
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse

KEPT: Final = 8_000_000
"""Characters of source whose syntax trees stay in memory between shards: some 300 MB."""


class Reader:
    """Loads modules for projects and remembers what went wrong.

    ``errors`` and ``broken`` (files that are text but not Python) are by path; ``unreadable`` are
    the paths that the system refused, whatever they hold.
    """

    def __init__(self, overlay: Mapping[Path, str]) -> None:
        self._overlay = overlay
        self._modules: dict[Path, ModuleInfo | None] = {}
        self._users: Counter[Path] = Counter()
        self.errors: dict[Path, FileError] = {}
        self.broken: dict[Path, SourceFile] = {}
        self.unreadable: set[Path] = set()

    def load(self, name: str, path: Path) -> ModuleInfo | None:
        """The symbol table of a file; None when it cannot be read or parsed."""
        self._users[path] += 1
        if path in self._modules:
            self._modules[path] = self._modules.pop(path)  # the latest used are the last
        else:
            self._modules[path] = self._read(name, path)
        return self._modules[path]

    def _read(self, name: str, path: Path) -> ModuleInfo | None:
        text = self._overlay.get(path)
        try:
            file = read_source(path) if text is None else SourceFile.from_text(path, text)
        except SourceError as error:
            self.errors[path] = error.error
            if isinstance(error.__cause__, OSError):
                self.unreadable.add(path)
            return None
        try:
            return collect_module(name, file, self.tree(file))
        except SourceError as error:
            self.errors[path] = error.error
            self.broken[path] = file
            return None

    def tree(self, file: SourceFile) -> ast.Module:
        """The syntax of a file.

        Raises:
            SourceError: it cannot be parsed.
        """
        return parse(file)

    def forget(self, keep: int = KEPT) -> None:
        """Let go of all but some modules, of which nobody may be using any at the moment.

        Those that several shards have asked for stay, then those that were used last.
        """
        room, latest_first = keep, [*reversed(self._modules)]
        for path in sorted(latest_first, key=lambda path: self._users[path] < 2):
            module = self._modules[path]
            room -= len(module.file.text) if module else 0
            if room < 0:
                del self._modules[path]
                if module:
                    take_apart(module)


def take_apart(module: ModuleInfo) -> None:
    """Cut the circles between a module and its members, since no garbage collector runs."""
    for cls in module.classes.values():
        cls.methods.clear()
        cls.classes.clear()
    module.classes.clear()
    module.functions.clear()


def project_of(program: Program, reader: Reader) -> Project:
    """The files of a run as one program.

    Raises:
        ConfigError: the configured environment holds no packages.
    """
    return Project(program.every, reader.load, installed_packages(program.config))
