"""The report for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.fleet.board import Board
from tclint.fleet.report.sections import Section, heading, sections

_WIDEST = 100


def render(board: Board) -> str:
    """The tables below each other."""
    return "\n\n".join([heading(board), *map(table, sections(board))]) + "\n"


def table(section: Section) -> str:
    """One table with aligned columns."""
    return "\n".join(_lines(section))


def _lines(section: Section) -> Iterator[str]:
    yield section.title
    rows = [section.head, *section.rows]
    columns = range(len(section.head))
    widths = [min(_WIDEST, max(len(row[n]) for row in rows)) for n in columns]
    for row in rows:
        cells = [
            row[n].rjust(widths[n]) if n in section.numbers else row[n].ljust(widths[n])
            for n in columns
        ]
        yield f"  {'  '.join(cells)}".rstrip()
    if section.note:
        yield f"  {section.note}"
