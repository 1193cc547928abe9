"""Lines of source around a finding, with carets below the reported place."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from tclint.printable import visible
from tclint.records import record
from tclint.report.colour import BLUE, BOLD, RED, Paint
from tclint.report.view import WIDEST

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tclint.diagnostics import Span
    from tclint.source.file import SourceFile

NARROWEST = 40


@record(frozen=True)
class Excerpt:
    """Ready lines, and how wide the column of line numbers is."""

    lines: tuple[str, ...]
    gutter: int


def excerpt(file: SourceFile, span: Span, paint: Paint, widest: int = WIDEST) -> Excerpt:
    """The reported line with its neighbours; of a span of several lines the first is marked.

    ``widest`` is how many columns there are: of a longer line the part around the span is shown.
    """
    row, nearby = span.start.row, file.nearby(span.start.row)
    if row not in nearby:
        return Excerpt((), 2)
    cell = file.cell(row)
    numbers = _around(row, nearby)
    above = cell.first - 1 if cell else 0
    gutter = len(str(numbers[-1] - above))
    empty, bar = " " * gutter, paint("|", BLUE, BOLD)
    room = max(widest - gutter - 5, NARROWEST)
    lines = [f"{empty} {bar}"]
    for number in numbers:
        line = nearby[number].rstrip("\r\n")
        shown, carets = _marked(line, span, room) if number == row else (visible(line)[:room], "")
        lines.append(
            f"{paint(str(number - above).rjust(gutter), BLUE, BOLD)} {bar} {shown}".rstrip()
        )
        if carets:
            indent = carets[: -len(carets.lstrip())]
            lines.append(f"{empty} {bar} {indent}{paint(carets.lstrip(), RED, BOLD)}")
    lines.append(f"{empty} {bar}")
    return Excerpt(tuple(lines), gutter)


def width(text: str) -> int:
    """How many terminal cells a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(_cells(character) for character in text)


def _around(row: int, nearby: Mapping[int, str]) -> range:
    """The rows to show: neighbours of the reported one, without blank lines at the ends."""
    first, last = min(nearby), max(nearby)
    while first < row and not nearby[first].strip():
        first += 1
    while last > row and not nearby[last].strip():
        last -= 1
    return range(first, last + 1)


def _marked(line: str, span: Span, room: int) -> tuple[str, str]:
    """The line and the carets below it; of a very long line the part around the span."""
    start = min(span.start.column - 1, len(line))
    end = min(span.end.column - 1, len(line)) if span.end.row == span.start.row else len(line)
    lead, tail = "", ""
    if len(line) > room:
        cut = max(0, min(start - room // 4, len(line) - room))
        lead, tail = ("…" if cut else ""), ("…" if cut + room < len(line) else "")
        line, start, end = line[cut : cut + room], start - cut, min(end - cut, room)
    indent = width(lead + visible(line[:start]))
    carets = max(1, width(visible(line[start:end])))
    return lead + visible(line) + tail, " " * indent + "^" * carets


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
