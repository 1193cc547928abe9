"""Findings for a text that does not parse: those of the last that did, where it is the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tclint.diagnostics import Diagnostic, Position, Span
from tclint.fix.reduce import common
from tclint.server.document import Analysis
from tclint.source.errors import SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tclint.source.rows import first_row

if TYPE_CHECKING:
    from tclint.lint.engine import Result


def outside(good: Analysis, file: SourceFile) -> Iterator[Result]:
    """The findings of an earlier state outside the function that is being edited.

    They are where they are now, and have no fixes: nothing can be proved of a broken file.
    """
    old, new = good.file.lines, file.lines
    head = common(old, new)
    tail = common(old[head:][::-1], new[head:][::-1])
    first, last = _around(good.file, head + 1, len(old) - tail)
    moved = len(new) - len(old)
    for reported in good.reported:
        result = reported.result
        span = result.diagnostic.span
        if span.end.row < first:
            yield _kept(result, file, 0)
        elif span.start.row > last:
            yield _kept(result, file, moved)


def _around(file: SourceFile, first: int, last: int) -> tuple[int, int]:
    """The rows of the innermost function around some rows; those rows where there is none."""
    # Where lines were only added, ``last`` is the one above them.
    edges = min(first, last), max(first, last)
    rows = _functions(file)
    holding = [(a, b) for a, b in rows if a <= edges[0] and edges[1] <= b]
    # A line that is added behind a function may become its last one.
    holding += [(a, b) for a, b in rows if first > last and b == last]
    if not holding:
        return first, last
    a, b = min(holding, key=lambda pair: pair[1] - pair[0])
    return min(a, first), max(b, last)


@lru_cache(maxsize=8)
def _functions(file: SourceFile) -> tuple[tuple[int, int], ...]:
    """The first and the last row of each function; asked for with each keystroke."""
    try:
        tree = parse(file)
    except SourceError:
        return ()
    return tuple(
        (first_row(node), node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    )


def _kept(result: Result, file: SourceFile, moved: int) -> Result:
    diagnostic = result.diagnostic
    shown: Diagnostic = replace(
        diagnostic,
        span=_moved(diagnostic.span, moved),
        related=(),
        chain=(),
        fixable=None,
        fix_message=None,
        declined=None,
    )
    return replace(result, diagnostic=shown, repair=None, file=file)


def _moved(span: Span, rows: int) -> Span:
    start, end = span.start, span.end
    return Span(Position(start.row + rows, start.column), Position(end.row + rows, end.column))
