"""Files and repairs of findings that were worked out earlier: read again when somebody asks."""

from __future__ import annotations

import ast
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any, Final

from tclint.diagnostics import Applicability, Edit, Position, Span
from tclint.lint.outcome import Excerpts
from tclint.lint.rewrite import (
    AddArgument,
    Import,
    Insert,
    Repair,
    Replace,
    Rewrite,
    Splice,
)
from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.file import NEARBY, Cell, SourceFile
from tclint.source.parse import parse
from tclint.source.rows import first_row

Version = tuple[int, int, int, int]
"""When a file was written and when it changed, in nanoseconds, its length in bytes and its number.

Anybody may set the first time back, the second nobody. (Windows knows no second one: there it is
when the file was made.)
"""
_Node = ast.expr | ast.stmt


SIZE: Final = 2
"""Where in a version the length is; the times are before it."""


def version_of(path: str | Path) -> Version | None:
    """The version of a file or a folder on disk; None when there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 (thousands of files)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


class StoredFile(SourceFile):
    """A file that is read when more of its text is asked for than the lines of its findings.

    If it has been written since it was checked, its findings lie elsewhere: then it has no other
    text.
    """

    __slots__ = ("_excerpts", "_file", "_nearby", "_version")

    def __init__(
        self, path: Path, version: Version | None, excerpts: Sequence[Excerpts] = ()
    ) -> None:
        object.__setattr__(self, "path", path)
        object.__setattr__(self, "_version", version)
        object.__setattr__(self, "_excerpts", excerpts)
        object.__setattr__(self, "_nearby", None)
        object.__setattr__(self, "_file", None)
        object.__setattr__(self, "_starts", [])

    @property
    def text(self) -> str:
        """The decoded text."""
        return self._loaded().text

    @property
    def encoding(self) -> str:
        """The codec of the bytes."""
        return self._loaded().encoding

    @property
    def lines(self) -> list[str]:
        """The lines with their ends."""
        return self._loaded().lines

    def line(self, row: int) -> str:
        """A line with its end."""
        known = self._known().get(row)
        return self._loaded().line(row) if known is None else known

    def nearby(self, row: int) -> dict[int, str]:
        """A line and its neighbours, by row."""
        known = self._known()
        if row not in known:
            return self._loaded().nearby(row)
        # Without a gap: whoever shows them goes from the first to the last.
        above = takewhile(known.__contains__, range(row, row - NEARBY - 1, -1))
        below = takewhile(known.__contains__, range(row + 1, row + NEARBY + 1))
        return {number: known[number] for number in sorted((*above, *below))}

    def cell(self, row: int) -> Cell | None:
        """The cell of a notebook that a row belongs to."""
        return self._loaded().cell(row) if self.path.suffix == ".ipynb" else None

    def _known(self) -> dict[int, str]:
        known: dict[int, str] | None = object.__getattribute__(self, "_nearby")
        if known is None:
            excerpts: Sequence[Excerpts] = object.__getattribute__(self, "_excerpts")
            known = {row: line for lines in excerpts for row, line in lines}
            object.__setattr__(self, "_nearby", known)
        return known

    def _loaded(self) -> SourceFile:
        known: SourceFile | None = object.__getattribute__(self, "_file")
        if known is None:
            known = _read(self.path, object.__getattribute__(self, "_version"))
            object.__setattr__(self, "_file", known)
        return known


def _read(path: Path, version: Version | None) -> SourceFile:
    if version is not None and version_of(path) == version:
        try:
            return read_source(path)
        except SourceError:
            pass  # what was readable before is so no more
    return SourceFile.from_text(path, "")


class StoredRepair(Repair):
    """A repair whose syntax nodes are looked up when somebody wants to carry it out."""

    __slots__ = ("_file", "_rows")

    def __init__(self, row: list[Any], file: SourceFile) -> None:
        message, applicability, changes, rows = row
        object.__setattr__(self, "message", message)
        object.__setattr__(self, "applicability", Applicability(applicability))
        object.__setattr__(self, "changes", changes)
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_file", file)

    @property
    def rewrites(self) -> tuple[Rewrite, ...]:
        """The rewrites; none when the file is no longer the one that was checked."""
        tree = tree_of(object.__getattribute__(self, "_file"))
        try:
            return tuple(_rewrite(row, tree) for row in object.__getattribute__(self, "_rows"))
        except LookupError:
            return ()


@lru_cache(maxsize=4)
def tree_of(file: SourceFile) -> ast.Module:
    """The syntax of a file with findings; they come sorted by file, so that a few are enough."""
    try:
        return parse(file)
    except SourceError:
        return ast.Module([], [])


def _rewrite(row: list[Any], tree: ast.Module) -> Rewrite:
    kind = row[0]
    if kind == "import":
        return Import(row[1], row[2])
    if kind == "splice":
        first, column, last, last_column = row[1]
        place = Span(Position(first, column), Position(last, last_column))
        return Splice(Edit(place, row[2]))
    node, template = _find(row[1], tree), row[2]
    parts: Mapping[str, _Node] = {name: _find(part, tree) for name, part in row[3].items()}
    if kind == "replace":
        return Replace(node, template, parts)
    if kind == "argument" and isinstance(node, ast.Call):
        return AddArgument(node, template, parts, row[4])
    if not isinstance(node, ast.stmt):
        raise LookupError(kind)
    return Insert(node, template, parts, after=kind == "after")


def _find(place: list[Any], tree: ast.Module) -> _Node:
    """The node of a kind at a place.

    Raises:
        LookupError: there is none.
    """
    kind, *corners = place
    start, end = tuple(corners[:2]), tuple(corners[2:])
    pending: list[ast.AST] = [tree]
    while pending:
        around = pending.pop()
        for node in ast.iter_child_nodes(around):
            if not isinstance(node, _Node):
                pending.append(node)  # arguments, handlers and so on: some have no place
                continue
            last = (node.end_lineno, node.end_col_offset)
            here = (node.lineno, node.col_offset) == start and last == end
            if here and type(node).__name__ == kind:
                return node
            if _holds(node, start, end):
                pending.append(node)
    raise LookupError(kind)


def _holds(node: _Node, start: tuple[int, ...], end: tuple[int, ...]) -> bool:
    return first_row(node) <= start[0] and end[0] <= (node.end_lineno or node.lineno)
