"""Edits that add comments which silence findings, or take them out again."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Sequence
from typing import Final

from tclint.diagnostics import Decline, Edit, Position, Span
from tclint.regexes import regex
from tclint.source.file import SourceFile
from tclint.source.suppress import Suppression

_IGNORED_CODES: Final = regex(r"#\s*tclint:\s*ignore\[[^\]]*")


def ignore_edit(
    file: SourceFile, codes: Sequence[str], row: int, reason: str = ""
) -> Edit | Decline:
    """Silence ``codes`` for the statement on a row; a comment that is there gets them added."""
    last = _last_row(file, row)
    if last is None:
        return Decline("the line belongs to no statement that Python can read")
    line = file.lines[last - 1].rstrip("\r\n")
    known = _IGNORED_CODES.search(line)
    if known is not None:
        return _insertion(last, known.end() + 1, "".join(f", {code}" for code in codes))
    because = f"  -- {reason}" if reason else ""
    return _insertion(last, len(line) + 1, f"  # tclint: ignore[{', '.join(codes)}]{because}")


def removal_edits(file: SourceFile, comment: Suppression, code: str | None) -> tuple[Edit, ...]:
    """Take a code out of a comment of ours, or the comment where nothing else is in it."""
    spans = [comment.span] if comment.end is None else [comment.span, comment.end]
    if code is None or len(comment.codes) <= 1:
        return tuple(_without(file, span) for span in spans)
    return tuple(_without_code(file, span, code) for span in spans if _text(file, span)[1])


def _insertion(row: int, column: int, content: str) -> Edit:
    place = Position(row, column)
    return Edit(Span(place, place), content)


def _last_row(file: SourceFile, row: int) -> int | None:
    """The row on which the logical line ends: the only one where a comment is always allowed."""
    lines = iter(file.lines)
    try:
        for token in tokenize.generate_tokens(lambda: next(lines, "")):
            if token.type == tokenize.ERRORTOKEN:
                return None
            if token.type == tokenize.NEWLINE and token.start[0] >= row:
                return token.start[0]
    except (tokenize.TokenError, SyntaxError):
        return None
    return None


def _text(file: SourceFile, span: Span) -> tuple[str, str]:
    """A comment up to its bracket, and what stands in it."""
    line = file.lines[span.start.row - 1]
    head, _, rest = line[span.start.column - 1 : span.end.column - 1].partition("[")
    return head, rest.rstrip("]")


def _without_code(file: SourceFile, span: Span, code: str) -> Edit:
    head, inside = _text(file, span)
    kept = [one for one in re.split(r"[, \t]+", inside.strip()) if one.upper() != code]
    row, start = span.start.row, span.start.column + len(head) + 1
    place = Span(Position(row, start), Position(row, start + len(inside)))
    return Edit(place, ", ".join(kept))


def _without(file: SourceFile, span: Span) -> Edit:
    """Cut a comment with its reason; what another tool reads behind it stays."""
    row, column = span.start.row, span.start.column
    whole = file.lines[row - 1]
    line = whole.rstrip("\r\n")
    before, after = line[: column - 1], line[column:]
    following = after.find("#")
    if following >= 0:
        return Edit(Span(span.start, Position(row, column + following + 1)), "")
    if not before.strip():
        end = Position(row + 1, 1) if len(whole) > len(line) else Position(row, len(line) + 1)
        return Edit(Span(Position(row, 1), end), "")
    start = Position(row, len(before.rstrip()) + 1)
    return Edit(Span(start, Position(row, len(line) + 1)), "")
