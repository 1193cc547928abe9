"""One decoded source file, with the arithmetic between the parser's positions and ours."""

from __future__ import annotations

import ast
import io
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Final

from tclint.diagnostics import Position, Span
from tclint.records import record

CELL_MARK: Final = "# %%tclint-cell "
"""How the line begins that stands above each cell of a notebook."""
NEARBY: Final = 2
"""How many lines above and below a line are shown with it."""


@record(frozen=True)
class Cell:
    """A cell of a notebook, counted from 1 as in the file, and the rows that it takes."""

    number: int
    first: int
    last: int

    def place(self, position: Position) -> Position:
        """A position of the text as people see it in the cell."""
        return Position(max(position.row - self.first + 1, 1), position.column)


class SourceFile:
    r"""Text as it was decoded, line ends kept, so that it can be written back byte for byte.

    Most files are never asked for their lines, which are found when somebody does.
    """

    def __init__(self, path: Path, text: str, encoding: str = "utf-8") -> None:
        """``encoding`` is the codec of the bytes (``utf-8-sig`` where the file has a mark)."""
        self.path: Final = path
        self._text = text
        self._encoding = encoding
        self._lines: list[str] = []
        self._starts: list[int] = []
        self._marks: list[int] | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r})"

    @property
    def text(self) -> str:
        """The decoded text."""
        return self._text

    @property
    def encoding(self) -> str:
        """The codec of the bytes."""
        return self._encoding

    @classmethod
    def from_text(cls, path: Path, text: str, encoding: str = "utf-8") -> SourceFile:
        """Make a file from text that is already decoded (stdin, an editor's buffer)."""
        return cls(path, text, encoding)

    @property
    def lines(self) -> list[str]:
        r"""The text, split where CPython's parser ends a line: at ``\n``, ``\r\n`` and ``\r``."""
        if not self._lines:
            self._lines.extend(split_lines(self.text))
        return self._lines

    def position(self, line: int, byte_column: int) -> Position:
        """Turn CPython's 1-based line and 0-based UTF-8 byte column into a Position."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        if text.isascii():
            return Position(line, byte_column + 1)
        prefix = text.encode("utf-8", "surrogatepass")[:byte_column]
        return Position(line, len(prefix.decode("utf-8", "ignore")) + 1)

    def span(self, node: ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword) -> Span:
        """The place of a syntax node."""
        end_line, end_column = node.end_lineno, node.end_col_offset
        start = self.position(node.lineno, node.col_offset)
        if end_line is None or end_column is None:
            return Span(start, start)
        return Span(start, self.position(end_line, end_column))

    def offset(self, position: Position) -> int:
        """The index into ``text`` of a position."""
        starts = self._line_starts()
        return starts[min(position.row, len(starts)) - 1] + position.column - 1

    def row(self, offset: int) -> int:
        """The row of an index into ``text``."""
        return bisect_right(self._line_starts(), offset)

    def place(self, offset: int) -> Position:
        """The position of an index into ``text``; the end of the text is on its last line."""
        row = min(self.row(offset), max(len(self.lines), 1))
        return Position(row, offset - self._line_starts()[row - 1] + 1)

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts.extend(accumulate(map(len, self.lines), initial=0))
        return self._starts

    def line(self, row: int) -> str:
        """A line with its end; empty behind the last one."""
        return self.lines[row - 1] if row <= len(self.lines) else ""

    def nearby(self, row: int) -> dict[int, str]:
        """A line and its neighbours, by row; in a notebook those of its cell."""
        if not 1 <= row <= len(self.lines):
            return {}
        cell = self.cell(row)
        top, bottom = (cell.first, cell.last) if cell else (1, len(self.lines))
        rows = range(max(top, row - NEARBY), min(bottom, row + NEARBY) + 1)
        return {number: self.lines[number - 1] for number in rows}

    def cell(self, row: int) -> Cell | None:
        """The cell that a row belongs to; None where the file is no notebook."""
        if self.path.suffix != ".ipynb":
            return None
        marks = self._cell_marks()
        above = bisect_right(marks, row)
        if not above:
            return None
        mark = marks[above - 1]
        last = marks[above] - 1 if above < len(marks) else len(self.lines)
        return Cell(int(self.lines[mark - 1].removeprefix(CELL_MARK)), mark + 1, last)

    def _cell_marks(self) -> list[int]:
        if self._marks is None:
            lines = enumerate(self.lines, 1)
            self._marks = [row for row, line in lines if line.startswith(CELL_MARK)]
        return self._marks

    def excerpt(self, span: Span) -> str:
        """The text of a span."""
        return self.text[self.offset(span.start) : self.offset(span.end)]


def spliced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """A text after changes that do not overlap: each a start, an end and what to put there."""
    pieces: list[str] = []
    done = 0
    for start, end, content in sorted(changes):
        pieces += [text[done:start], content]
        done = end
    return "".join([*pieces, text[done:]])


def split_lines(text: str) -> list[str]:
    """Split like CPython's tokenizer: form feeds and Unicode separators do not end a line."""
    if "\r" in text:
        # An empty newline argument means: find all three line ends, and keep them as they are.
        return [*io.StringIO(text, newline="")]
    *lines, last = text.split("\n")
    found = [f"{line}\n" for line in lines]
    return [*found, last] if last else found
