"""The cells of a notebook that ran: they are no files, and one program all together."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tclint.config import Config
from tclint.diagnostics import ChainLink, Diagnostic, Position, Span
from tclint.lint.engine import Result, check_files
from tclint.run.moved import Spot, files_of, renamed, stacks_of
from tclint.run.read import Reading
from tclint.run.recorded import Cell, Note, Recorded

_TOGETHER = "In[].py"
"""The name, that no module has, of all cells one below the other."""
_BETWEEN = "\n\n\n"
"""So far apart, the lines around a change are those of its own cell."""
_TIMED = ("<timed exec>", "<timed eval>")
"""What IPython runs below ``%%time``, whichever cell that is in."""
_CAPTURE, _TIME = "capture", "time"
_PYTHON = frozenset({_CAPTURE, "prun", _TIME, "timeit"})
"""The magics that run a whole cell as Python."""
_MAGIC = re.compile(r"get_ipython\(\)\.run_cell_magic\(")


def is_cell(filename: str) -> bool:
    """Whether a file's name is that of a cell."""
    return filename.startswith("In[")


def with_cells(reading: Reading, also: Collection[str] | None = None) -> Reading:
    """The recording with cells under the names that people see, and all of them at each process.

    With ``also``, cells that the recording does not name count as run before it, but for these.
    """
    found = {cell.filename: cell for one in reading.processes for cell in one.cells}
    if not found:
        return reading
    spots = dict(_spots([*found.values()]))
    named = {name for one in reading.processes for name in files_of(one)} | {*(also or ())}
    texts: dict[str, Cell] = {}
    for name, spot in spots.items():
        ran = also is None or name in named or (spot.name in texts and texts[spot.name].ran)
        text = "\n" * spot.rows + _python(found[name].text)
        texts[spot.name] = Cell(spot.name, spot.name, text, ran)
    cells = tuple(texts.values())
    named_so = [_below_time(replace(one, cells=cells), found, spots) for one in reading.processes]
    return renamed(replace(reading, processes=tuple(named_so)), spots)


def _spots(cells: Sequence[Cell]) -> Iterator[tuple[str, Spot]]:
    """Where the rows of each name are seen: of what ``%%capture`` runs, below that."""
    captured: dict[str, str] = {}
    taken: set[str] = set()
    for cell in cells:
        if cell.text.strip() in captured:
            yield cell.filename, Spot(captured[cell.text.strip()], 1)
            continue
        names = itertools.chain([cell.name], (f"{cell.name} ({n})" for n in itertools.count(2)))
        name = next(one for one in names if one not in taken)
        taken.add(name)
        magic, body = _magic(cell.text)
        if magic == _CAPTURE:
            captured[body.strip()] = name
        yield cell.filename, Spot(name)


def _python(text: str) -> str:
    """The Python of a cell, where magics run it below their own row; nothing where it is none."""
    name, body = _magic(text)
    text = f"\n{body}" if name else text
    return text if _parsed(text) is not None else "\n" * text.count("\n")


def _magic(text: str) -> tuple[str, str]:
    """The magic that runs a whole cell as Python, and what it runs; empty where none does."""
    tree = _parsed(text) if _MAGIC.match(text) else None
    match tree and tree.body:
        case [
            ast.Expr(ast.Call(args=[ast.Constant(str() as name), _, ast.Constant(str() as body)]))
        ] if name in _PYTHON:
            return name, body
    return "", ""


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _below_time(one: Recorded, cells: Mapping[str, Cell], spots: Mapping[str, Spot]) -> Recorded:
    """With the cell that runs below ``%%time`` named, if only one of those that do was seen."""
    if not any(name in _TIMED for name in files_of(one)):
        return one
    timed = {name for name, cell in cells.items() if _magic(cell.text)[0] == _TIME}
    stacks = [[place.filename for place in stack] for stack in stacks_of(one)]
    seen = {name for stack in stacks if {*stack} & {*_TIMED} for name in stack if name in timed}
    among = seen or timed
    if len(among) != 1:
        shown = ", ".join(sorted(spots[name].name for name in among))
        why = f"what runs below a magic is told apart in no more than one of them: {shown}"
        return replace(one, notes=(*one.notes, Note("cells", why)))
    name = spots[among.pop()].name
    (moved,) = renamed(Reading((one,)), dict.fromkeys(_TIMED, Spot(name, 1))).processes
    return moved


def check_with_cells(
    paths: Sequence[Path], cells: Sequence[Cell], folder: Path, config: Config
) -> tuple[Result, ...]:
    """The findings in files, and in the cells that ran: each at its place in its own cell."""
    if not cells:
        return check_files(paths, config).results
    together = _Together(folder / _TOGETHER, cells)
    found = check_files([*paths, together.path], config, {together.path: together.text}).results
    return tuple(together.apart(found))


class _Together:
    """The cells one below the other, and what was found there back in the cells."""

    def __init__(self, path: Path, cells: Sequence[Cell]) -> None:
        self.path = path
        self._cells = cells
        rows = (cell.text.count("\n") + len(_BETWEEN) for cell in cells)
        self._ends = [*itertools.accumulate(rows)]
        self.text = _BETWEEN.join(cell.text for cell in cells)

    def apart(self, results: Iterable[Result]) -> Iterator[Result]:
        """The results, without those in cells that ran before."""
        for result in results:
            found = result.diagnostic
            linked = replace(
                found,
                chain=tuple(map(self._link, found.chain)),
                remedies=tuple(
                    replace(remedy, places=tuple(map(self._link, remedy.places)))
                    for remedy in found.remedies
                ),
            )
            if found.path != self.path:
                yield replace(result, diagnostic=linked)
                continue
            cell, before = self._cell_of(found.span.start.row)
            if cell.ran:
                yield replace(result, diagnostic=self._in_cell(linked, cell, before))

    def _in_cell(self, found: Diagnostic, cell: Cell, before: int) -> Diagnostic:
        related = [
            _shifted(span, before)
            for span in found.related
            if self._cell_of(span.start.row)[0] is cell
        ]
        span = _shifted(found.span, before)
        return replace(found, path=Path(cell.name), span=span, related=tuple(related))

    def _cell_of(self, row: int) -> tuple[Cell, int]:
        """The cell that a row of the whole is in, and how many rows are before it."""
        at = next(n for n, end in enumerate(self._ends) if row <= end)
        return self._cells[at], self._ends[at - 1] if at else 0

    def _link(self, link: ChainLink) -> ChainLink:
        if Path(link.filename) != self.path:
            return link
        cell, before = self._cell_of(link.row)
        return ChainLink(link.function, cell.name, link.row - before)


def _shifted(span: Span, rows: int) -> Span:
    start, end = span.start, span.end
    return Span(Position(start.row - rows, start.column), Position(end.row - rows, end.column))
