"""Where a finding is, for people and for tools that know only lines of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Position, Span

if TYPE_CHECKING:
    from tclint.lint.engine import Result
    from tclint.report.view import View

START: Final = Span(Position(1, 1), Position(1, 1))


def place_text(result: Result, view: View) -> str:
    """``model.py:3:9``, or ``notes.ipynb:cell 4:3:9``."""
    cell, start = cell_place(result, result.diagnostic.span.start)
    where = f":cell {cell}" if cell else ""
    return f"{view.path(result.diagnostic.path)}{where}:{start.row}:{start.column}"


def cell_place(result: Result, position: Position) -> tuple[int | None, Position]:
    """The number of the notebook's cell and the place in it; no number in an ordinary file."""
    cell = result.file.cell(position.row)
    return (cell.number, cell.place(position)) if cell else (None, position)


def file_span(result: Result) -> Span:
    """The span in the file: of a notebook, whose lines are JSON, only its start can be named."""
    span = result.diagnostic.span
    return START if result.file.cell(span.start.row) else span


def message_with_cell(result: Result) -> str:
    """The message, and the cell where the span cannot tell it."""
    message = result.diagnostic.message
    cell, start = cell_place(result, result.diagnostic.span.start)
    return f"{message} (cell {cell}, line {start.row})" if cell else message
