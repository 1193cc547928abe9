"""The closed files of a large folder that call into open ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tclint.config import Config
from tclint.files import Version, version_of
from tclint.lint.around import imports_in, text_of
from tclint.lint.callers import Callers
from tclint.lint.execution import ALONE, Around
from tclint.lint.outlines import Import, imports
from tclint.semantics.project import Project

WALKED: Final = 50_000
"""Characters of definitions that are walked with an open file at each keystroke."""
KEPT: Final = 32
"""Open files whose callers stay known."""


class KnownImports:
    """What files on disk import; they are read again when their versions change."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[Version | None, tuple[Import, ...]]] = {}

    def of(self, path: Path) -> tuple[Import, ...]:
        """What a file imports."""
        version = version_of(path)
        known = self._known.get(path)
        if known is None or known[0] != version:
            known = self._known[path] = version, imports_in(path)
        return known[1]


class Neighbours:
    """Who calls into the open files, as far as the files on disk stay as they are."""

    def __init__(self, listed: Sequence[Path], known: KnownImports) -> None:
        self._listed, self._known = tuple(listed), known
        self._rows: dict[Path, tuple[Import, ...]] = {}
        self._found: dict[Any, Around] = {}

    def around(
        self, project: Project, named: Sequence[Path], config: Config, texts: Mapping[Path, str]
    ) -> Around:
        """What is walked with some files; it stays while nobody edits imports or other files."""
        if not self._listed:
            return ALONE
        opened = {path: imports(text) for path, text in texts.items()}
        others = frozenset((path, text) for path, text in texts.items() if path not in named)
        key = project, tuple(named), config.scope, tuple(opened.items()), others
        if key not in self._found:
            while len(self._found) >= KEPT:
                self._found.pop(next(iter(self._found)))
            found = Callers(project, self._imports(opened), lambda path: _text(path, texts))
            every = config.scope == "all" or bool(config.compiled)
            called = found.of(named, WALKED, every=every)
            self._found[key] = Around(callers=called.files, left_out=called.left_out)
        return self._found[key]

    def _imports(
        self, opened: Mapping[Path, tuple[Import, ...]]
    ) -> Iterator[tuple[Path, tuple[Import, ...]]]:
        if not self._rows:
            self._rows = {path: self._known.of(path) for path in self._listed}
        yield from {**self._rows, **opened}.items()


def _text(path: Path, texts: Mapping[Path, str]) -> str:
    return texts[path] if path in texts else text_of(path)
