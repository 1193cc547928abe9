"""From text to syntax, with every way in which the parser can fail turned into one error."""

from __future__ import annotations

import ast
import warnings

from tclint.diagnostics import Position, Span
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile
from tclint.source.nesting import longest_statement
from tclint.source.newer import newer_syntax


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
        message = (
            "an expression or block is too deeply nested to be parsed; "
            "split it into several statements, or exclude the file"
        )
        raise SourceError(file.path, message, longest_statement(file)) from error
    except UnicodeEncodeError as error:
        message = "the text contains half of a surrogate pair, which no file can hold"
        raise SourceError(file.path, message, _place(file, error.start)) from error


def _syntax_error(file: SourceFile, error: SyntaxError) -> SourceError:
    row = error.lineno or 0
    line = file.lines[row - 1] if 0 < row <= len(file.lines) else ""
    message = newer_syntax(line, error.msg) or f"syntax error: {error.msg}"
    return SourceError(file.path, message, _span(file, error))


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
