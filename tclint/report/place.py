"""Where findings are: in a file, for people and for tools that know only lines; in a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tclint.config_places import PLACE_NAMES, WORDS
from tclint.diagnostics import Position, Span
from tclint.report.view import count

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


def with_cell(result: Result, text: str) -> str:
    """A text whose first line names the cell, where the span cannot tell it."""
    cell, start = cell_place(result, result.diagnostic.span.start)
    if not cell:
        return text
    first, end, rest = text.partition("\n")
    return f"{first} (cell {cell}, line {start.row}){end}{rest}"


def by_place(results: Sequence[Result]) -> Iterator[tuple[str, list[Result]]]:
    """The findings of each place that has some, under its words; none for the code."""
    for place in PLACE_NAMES:
        found = [result for result in results if result.place == place]
        if found:
            yield heading(place, len(found)), found


def heading(place: str, number: int) -> str:
    """``12 findings in tests``; nothing for the code."""
    return f"{count(number, 'finding')} in {WORDS[place]}" if place in WORDS else ""


def listed(counts: Sequence[tuple[str, int]]) -> str:
    """``5 in tests and 2 in export code``, of the places only."""
    parts = [f"{number} in {WORDS[place]}" for place, number in counts if place in WORDS]
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
