"""What the files of a project import, remembered: a run that names one file asks all the others.

A row holds for as long as its file's version does. A file that was written just now may be written
again unseen, so it is read the next time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from tclint.cache.envelope import UNUSABLE
from tclint.files import SIZE, Version, version_of
from tclint.lint.around import imports_in
from tclint.lint.outlines import Import

SETTLED: Final = 2 * 10**9
"""Nanoseconds, as for findings."""

Rows = dict[str, tuple[Version, list[list[str]]]]
"""A file's version, and for each import its source and the names that it binds."""


class Imports:
    """The imports of files, of which some are known from earlier runs."""

    def __init__(self, remembered: Any) -> None:
        """``remembered`` is what :meth:`rows` made; None or nonsense when there is nothing."""
        self.is_new = False
        self._rows: Rows = {}
        self._known: dict[str, Any] = remembered if isinstance(remembered, dict) else {}

    def of(self, paths: Sequence[Path]) -> list[tuple[Path, tuple[Import, ...]]]:
        """What each of some files imports; those that do not exist import nothing."""
        found, here = [], os.getcwd()  # noqa: PTH109 (thousands of files)
        for path in paths:
            name = os.path.join(here, path)  # noqa: PTH118
            version = version_of(name)
            if version is None:
                continue
            try:
                row = self._known[name]
                taken = _decoded(row[1]) if tuple(row[0]) == version else None
            except (*UNUSABLE, IndexError):
                taken = None
            if taken is None:
                self.is_new = True
                taken = imports_in(path)
                row = [version, [*map(_encoded, taken)]]
            self._rows[name] = row
            found.append((path, taken))
        return found

    def rows(self, lag: int) -> Rows:
        """What to remember; ``lag`` is by how much the clock that dates files is behind ours."""
        before = time.time_ns() - SETTLED - lag
        return {name: row for name, row in self._rows.items() if max(row[0][:SIZE]) < before}


def name_of(paths: Sequence[Path]) -> str:
    """What tells the files of one project from those of another."""
    return os.path.commonpath([Path.cwd() / path for path in (paths[0], paths[-1])])


def _encoded(one: Import) -> list[str]:
    return [one.source, *(n if n == local else f"{n} {local}" for n, local in one.names)]


def _decoded(rows: Sequence[Sequence[str]]) -> tuple[Import, ...]:
    return tuple(Import(_named(source), tuple(map(_pair, names))) for source, *names in rows)


def _named(source: object) -> str:
    if not isinstance(source, str) or not source:
        raise TypeError(source)
    return source


def _pair(text: str) -> tuple[str, str]:
    name, _, local = text.partition(" ")
    return name, local or name
