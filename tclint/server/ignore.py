"""The edit behind "Ignore CODE on this line": a suppression comment behind the statement."""

from __future__ import annotations

import re
import tokenize

from tclint.diagnostics import Decline, Edit, Position, Span
from tclint.source.file import SourceFile

_IGNORED_CODES = re.compile(r"#\s*tclint:\s*ignore\[[^\]]*")


def ignore_edit(file: SourceFile, code: str, row: int) -> Edit | Decline:
    """Suppress ``code`` for the statement on a row; an existing comment gets the code added."""
    last = _last_row(file, row)
    if last is None:
        return Decline("the line belongs to no statement that Python can read")
    line = file.lines[last - 1].rstrip("\r\n")
    known = _IGNORED_CODES.search(line)
    if known is not None:
        return _insertion(last, known.end() + 1, f", {code}")
    return _insertion(last, len(line) + 1, f"  # tclint: ignore[{code}]")


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
