"""Rows of fixed files and of the files as they were."""

from __future__ import annotations

import ast
import os
from bisect import bisect_right
from collections import defaultdict
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.records import record
from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile, split_lines
from tclint.source.parse import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tclint.diagnostics import Edit, Span
    from tclint.fix.results import AppliedFix, FixedFile, FixKey

_NOWHERE = range(0)


def real(path: Path | str) -> Path:
    """A path without links, as the processes that run the code name it."""
    return Path(os.path.realpath(path))


@record(frozen=True)
class Origin:
    """Where a row of a fixed file comes from, and the fixes that wrote it."""

    rows: range
    writers: frozenset[FixKey] = frozenset()


class RowMap:
    """Leads from the rows of a fixed file back to those of the file as it was."""

    def __init__(self, file: FixedFile) -> None:
        """Read the edits of the fixes."""
        makers: dict[Edit, set[FixKey]] = defaultdict(set)
        for fix in file.fixes:
            for edit in fix.edits:
                makers[edit].add(fix.key)
        self._stretches: list[tuple[range, Origin]] = []
        self._shifts: list[tuple[int, int]] = [(1, 0)]
        shift = 0
        for edit in sorted(makers):
            first, last = edit.span.start.row, edit.span.end.row
            more = len(split_lines(edit.content + "|")) - 1
            # What is put above a line leaves that line alone.
            whole = edit.span.end.column == 1 and edit.content.endswith(("\n", "\r"))
            new = range(first + shift, first + shift + more + (not whole))
            old = range(first, last + (not whole)) or range(first, first + 1)
            self._stretches.append((new, Origin(old, frozenset(makers[edit]))))
            shift += more - (last - first)
            self._shifts.append((last + shift + (not whole), shift))

    def origin(self, row: int) -> Origin:
        """Where one row of the fixed file comes from."""
        met = [origin for rows, origin in self._stretches if row in rows]
        if met:
            rows = range(min(o.rows.start for o in met), max(o.rows.stop for o in met))
            return Origin(rows, frozenset().union(*(o.writers for o in met)))
        begins = [begin for begin, _ in self._shifts]
        old = row - self._shifts[max(bisect_right(begins, row) - 1, 0)][1]
        return Origin(range(old, old + 1))


@record()
class Sources:
    """The files as they were: which rows belong to a finding, and which to a function.

    ``texts`` are those of fixed files; others are read when they are needed.
    """

    texts: Mapping[Path, str]
    _trees: dict[Path, ast.Module | None] = field(default_factory=dict)

    def statement(self, path: Path, span: Span) -> range:
        """The rows of the innermost statement around a span; of a block's statement, its head."""
        rows = range(span.start.row, span.end.row + 1)
        around = [one for one in self._statements(path) if one.start <= rows.start < one.stop]
        inner = min(around, key=len, default=rows)
        return range(min(inner.start, rows.start), max(inner.stop, rows.stop))

    def function(self, path: Path, row: int) -> range:
        """The rows of the innermost function around a row; none outside of functions."""
        tree = self._tree(path)
        found = [_NOWHERE]
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                rows = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                found += [rows] if row in rows else []
        return min((rows for rows in found if rows), key=len, default=_NOWHERE)

    def _statements(self, path: Path) -> Iterable[range]:
        tree = self._tree(path)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                last = node.end_lineno or node.lineno
                if body:
                    last = max(node.lineno, min(last, body[0].lineno - 1))
                yield range(node.lineno, last + 1)

    def _tree(self, path: Path) -> ast.Module | None:
        if path not in self._trees:
            try:
                text = self.texts.get(path)
                file = read_source(path) if text is None else SourceFile.from_text(path, text)
                self._trees[path] = parse(file)
            except SourceError:  # generated code, or a file that is gone
                self._trees[path] = None
        return self._trees[path]


def rows_of(fix: AppliedFix, sources: Sources) -> tuple[range, ...]:
    """The statements of a fix's finding, and those where its effect shows."""
    path, diagnostic = real(fix.key.path), fix.diagnostic
    spans = (diagnostic.span, *diagnostic.related)
    return tuple(dict.fromkeys(sources.statement(path, span) for span in spans))
