"""``grouped``: findings below the names of their files."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from tclint.printable import visible
from tclint.report.colour import BOLD, Paint
from tclint.report.head import code, star
from tclint.report.place import cell_place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tclint.lint.engine import Result, Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """A block a file, with rows and columns aligned."""
    files = groupby(run.results, key=lambda result: result.diagnostic.path)
    return "".join(_block(view.path(path), [*group], view) + "\n" for path, group in files)


def _block(path: str, results: Iterable[Result], view: View) -> str:
    places = [(result.diagnostic, *_place(result)) for result in results]
    rows = max(len(row) for _, row, _ in places)
    columns = max(len(column) for _, _, column in places)
    lines = [f"{Paint(view.colour)(visible(path), BOLD)}:"]
    for one, row, column in places:
        place = f"{row:>{rows}}:{column:<{columns}}"
        message = visible(one.message)
        lines.append(f"  {place} {code(one, view)}{star(one, view)} {message}")
    return "".join(line + "\n" for line in lines)


def _place(result: Result) -> tuple[str, str]:
    cell, start = cell_place(result, result.diagnostic.span.start)
    return (f"cell {cell}:{start.row}" if cell else str(start.row)), str(start.column)
