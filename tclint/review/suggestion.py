"""A fix as the lines that a reader can accept with one click."""

from __future__ import annotations

from collections.abc import Sequence

from tclint.diagnostics import Edit
from tclint.git.diff import Added
from tclint.printable import visible
from tclint.records import record
from tclint.review.findings import line_of
from tclint.source.file import SourceFile


@record(frozen=True)
class Suggestion:
    """Replace the lines from ``first`` to ``last`` by ``lines``, given without their ends."""

    first: int
    last: int
    lines: tuple[str, ...]


def suggestion(file: SourceFile, edits: Sequence[Edit], added: Added) -> Suggestion | None:
    """The replacement of whole lines that carries out all edits.

    None when an edit reaches out of the run of added lines, since a comment may only replace lines
    that the pull request shows, when the result is not whole lines, or when it holds what a
    reader does not see.
    """
    text = file.text
    places = sorted(
        (file.offset(edit.span.start), file.offset(edit.span.end), edit.content) for edit in edits
    )
    if not places:
        return None
    first, last = line_of(text, places[0][0]), max(_last_line(text, *p[:2]) for p in places)
    if not added.holds(first, last):
        return None
    start = text.rfind("\n", 0, places[0][0]) + 1
    end = _end_of_line(text, last)
    replaced = _apply(text[start:end], [(s - start, e - start, new) for s, e, new in places])
    if replaced and text[start:end].endswith("\n") and not replaced.endswith("\n"):
        return None
    lines = tuple(line.removesuffix("\r") for line in replaced.removesuffix("\n").split("\n"))
    if not all(map(_shows_itself, lines)):
        return None
    return Suggestion(first, last, lines if replaced else ())


def _shows_itself(line: str) -> bool:
    """Whether nothing in a line is hidden, or makes it look like another one."""
    line = line.replace("\t", "")
    return visible(line) == line


def _last_line(text: str, start: int, end: int) -> int:
    """The last line that an edit touches; one that ends behind a newline stops before the next."""
    inside = end > start and text[end - 1] == "\n"
    return line_of(text, end - 1 if inside else end)


def _end_of_line(text: str, line: int) -> int:
    end = 0
    for _ in range(line):
        newline = text.find("\n", end)
        if newline == -1:
            return len(text)
        end = newline + 1
    return end


def _apply(text: str, places: Sequence[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end, new in places:
        parts += (text[done:start], new)
        done = end
    return "".join((*parts, text[done:]))
