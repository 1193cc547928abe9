"""Texts that run and are no files: the cells of IPython's session."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.diagnostics import ChainLink, Diagnostic, Position, Span
from tclint.lint.engine import Result, check_files
from tclint.records import record
from tclint.run.lines import with_evidence
from tclint.run.moved import files_of, renamed
from tclint.run.read import Reading

_ALL = Path("cells.py")


@record(frozen=True)
class Cell:
    """A text by the name that Python knows it by, and the name to show."""

    filename: str
    shown: str
    text: str

    @property
    def rows(self) -> int:
        """How many rows it takes where it stands among others."""
        return self.text.count("\n") + 1


def in_cells(
    reading: Reading, config: Config, also: Collection[str] = ()
) -> tuple[Reading, tuple[Result, ...]]:
    """The recording with the names to show, and the findings in the texts that ran.

    The cells of a session are one program: a cell uses what those before it have defined. Of those
    that did not run only the ones named in ``also`` are told.
    """
    names = {name for one in reading.processes for name in files_of(one)} | {*also}
    cells = _of_session()
    shown = {cell.filename: cell.shown for cell in cells}
    return renamed(reading, shown), tuple(_results(cells, names, config))


def _of_session() -> list[Cell]:
    """The cells that this process's IPython has run, in their order."""
    package: Any = sys.modules.get("IPython")
    shell = None if package is None else package.get_ipython()
    numbers: Mapping[str, int] = getattr(getattr(shell, "compile", None), "_filename_map", {})
    texts = ((name, linecache.getlines(name)) for name in numbers)
    return [Cell(name, f"In[{numbers[name]}]", "".join(rows)) for name, rows in texts if rows]


def _results(cells: Sequence[Cell], names: Collection[str], config: Config) -> Iterator[Result]:
    """The findings in the cells of these names, each at its place in its own cell."""
    if not any(cell.filename in names for cell in cells):
        return
    text = "\n".join(cell.text for cell in cells)
    for result in check_files([_ALL], with_evidence(config), {_ALL: text}).results:
        cell, before = _cell_of(result.diagnostic.span.start.row, cells)
        if cell.filename in names:
            diagnostic = _moved(result.diagnostic, cells)
            related = [
                _shifted(span, before)
                for span in result.diagnostic.related
                if _cell_of(span.start.row, cells)[0] is cell
            ]
            yield replace(
                result, diagnostic=replace(diagnostic, related=tuple(related)), repair=None
            )


def _cell_of(row: int, cells: Sequence[Cell]) -> tuple[Cell, int]:
    """The cell that a row of the whole is in, and how many rows are before it."""
    before = 0
    for cell in cells:
        if row <= before + cell.rows:
            return cell, before
        before += cell.rows
    raise LookupError(row)


def _moved(found: Diagnostic, cells: Sequence[Cell]) -> Diagnostic:
    cell, before = _cell_of(found.span.start.row, cells)
    remedies = (
        replace(remedy, places=tuple(_link(place, cells) for place in remedy.places))
        for remedy in found.remedies
    )
    return replace(
        found,
        path=Path(cell.shown),
        span=_shifted(found.span, before),
        chain=tuple(_link(link, cells) for link in found.chain),
        remedies=tuple(remedies),
    )


def _link(link: ChainLink, cells: Sequence[Cell]) -> ChainLink:
    if Path(link.filename) != _ALL:
        return link
    cell, before = _cell_of(link.row, cells)
    return ChainLink(link.function, cell.shown, link.row - before)


def _shifted(span: Span, rows: int) -> Span:
    start, end = span.start, span.end
    return Span(Position(start.row - rows, start.column), Position(end.row - rows, end.column))
