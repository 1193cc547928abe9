"""From text to syntax, with every way in which the parser can fail turned into one error."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from typing import Final

from tclint.diagnostics import Position, Span
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile

_NEWER_SYNTAX: Final = (
    ((3, 11), re.compile(r"^\s*except\s*\*"), "`except*`"),
    ((3, 11), re.compile(r"\w\[[^\]]*\*\w"), "a star in an index"),
    ((3, 12), re.compile(r"^\s*type\s+\w+\s*(\[.*\]\s*)?="), "the `type` statement"),
    ((3, 12), re.compile(r"^\s*(async\s+def|def|class)\s+\w+\s*\["), "type parameters"),
    (
        (3, 12),
        re.compile(r"\b(?:f|fr|rf)([\"'])[^\"']*\{[^}\"']*\1", re.IGNORECASE),
        "the same quote inside an f-string",
    ),
    ((3, 14), re.compile(r"^\s*except\s+[\w.]+\s*,"), "`except` without parentheses"),
    ((3, 14), re.compile(r"\b(t|rt|tr)[\"']", re.IGNORECASE), "a template string"),
)
"""What a line looks like that only a newer Python can parse: first version, look, name."""


def parse(file: SourceFile) -> ast.Module:
    """Parse a file, silencing the parser's own warnings.

    Raises:
        SourceError: the text is not Python that the running interpreter can parse.
    """
    null = file.text.find("\0")
    if null != -1:
        raise SourceError(file.path, "the file contains a null byte", _place(file, null))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(file.text)
    except SyntaxError as error:
        raise _syntax_error(file, error) from error
    except (RecursionError, MemoryError) as error:
        message = "an expression or block is too deeply nested to be parsed"
        raise SourceError(file.path, message) from error
    except UnicodeEncodeError as error:
        message = "the text contains half of a surrogate pair, which no file can hold"
        raise SourceError(file.path, message, _place(file, error.start)) from error


def _syntax_error(file: SourceFile, error: SyntaxError) -> SourceError:
    message = f"syntax error: {error.msg}"
    span = _span(file, error)
    newer = _newer_syntax(file, error)
    if newer is not None:
        version, name = newer
        wanted, running = (".".join(map(str, v)) for v in (version, sys.version_info[:2]))
        message += (
            f"; {name} needs Python {wanted} and tclint runs on Python {running}: "
            f"run it with Python {wanted} or newer"
        )
    return SourceError(file.path, message, span)


def _newer_syntax(file: SourceFile, error: SyntaxError) -> tuple[tuple[int, int], str] | None:
    """The version and the name of the syntax that the running Python seems too old for."""
    running = sys.version_info[:2]
    if running < (3, 12) and error.msg.startswith("f-string expression part cannot include"):
        return (3, 12), "that"
    row = error.lineno or 0
    line = file.lines[row - 1] if 0 < row <= len(file.lines) else ""
    for version, look, name in _NEWER_SYNTAX:
        if running < version and look.search(line):
            return version, name
    return None


def _span(file: SourceFile, error: SyntaxError) -> Span:
    """The parser's place, brought back into the file: it may point behind the end or nowhere."""
    start = _inside(file, error.lineno, error.offset)
    if not error.end_lineno or not error.end_offset or error.end_offset < 1:
        return Span(start, start)
    return Span(start, max(start, _inside(file, error.end_lineno, error.end_offset)))


def _inside(file: SourceFile, row: int | None, column: int | None) -> Position:
    row = min(max(row or 1, 1), max(len(file.lines), 1))
    width = len(file.lines[row - 1].rstrip("\r\n")) if file.lines else 0
    return Position(row, min(max(column or 1, 1), width + 1))


def _place(file: SourceFile, offset: int) -> Span:
    row, rest = 1, offset
    for line in file.lines:
        if rest < len(line):
            break
        row, rest = row + 1, rest - len(line)
    position = Position(row, rest + 1)
    return Span(position, position)
