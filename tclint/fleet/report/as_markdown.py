"""The report for a page or a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tclint.fleet.board import Board
from tclint.fleet.report.sections import Section, heading, sections

_SPECIAL = re.compile(r"([\\|*_`<>\[\]])")


def render(board: Board) -> str:
    """The tables with headings."""
    parts = [f"# Fleet: {_escaped(heading(board))}", *map(table, sections(board))]
    return "\n\n".join(parts) + "\n"


def table(section: Section) -> str:
    """One table."""
    return "\n".join(_lines(section))


def _lines(section: Section) -> Iterator[str]:
    yield f"## {_escaped(section.title)}\n"
    yield f"| {' | '.join(map(_escaped, section.head))} |"
    kinds = ("---:" if n in section.numbers else "---" for n in range(len(section.head)))
    yield f"| {' | '.join(kinds)} |"
    for row in section.rows:
        yield f"| {' | '.join(map(_escaped, row))} |"
    if section.note:
        yield f"\n{_escaped(section.note)}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
