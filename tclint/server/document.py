"""What the server remembers of a document: its text, and what the last analysis said of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import field
from errno import EINVAL, ENAMETOOLONG
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlparse

from pygls.uris import to_fs_path

from tclint.config import Config
from tclint.diagnostics import Position, Span
from tclint.lint.looked import NOTHING, Looked, RegionSeen
from tclint.records import record
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from tclint.lint.engine import Result

SUFFIXES = (".py", ".pyi", ".ipynb")


@record(frozen=True)
class Part:
    """A text of the client's: a whole document, or a cell of a notebook.

    ``above`` are the rows of the document's text above the part, ``rows`` its own.
    """

    uri: str
    version: int
    above: int
    rows: int


@record(frozen=True)
class Document:
    """One state of an open document. ``path`` need not exist on disk.

    ``cells`` are the parts of a notebook in which there is Python, ``others`` its other cells.
    """

    uri: str
    path: Path
    version: int
    text: str = field(repr=False)
    cells: tuple[Part, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def is_notebook(self) -> bool:
        """Whether the client knows the document by its cells."""
        return self.path.suffix == ".ipynb"

    @property
    def uris(self) -> tuple[str, ...]:
        """What the client calls the texts of this document."""
        if not self.is_notebook:
            return (self.uri,)
        return (*(cell.uri for cell in self.cells), *self.others)

    def part_at(self, row: int) -> Part:
        """The part that a row belongs to; a row between two cells belongs to the one above."""
        if not self.cells:
            return Part(self.uri, self.version, 0, row)
        return next((c for c in reversed(self.cells) if c.above < row), self.cells[0])

    def part(self, uri: str) -> Part | None:
        """The part that a client calls by this name."""
        if uri == self.uri:
            return Part(self.uri, self.version, 0, 0)
        return next((cell for cell in self.cells if cell.uri == uri), None)


@record(frozen=True)
class Reported:
    """A finding together with the id under which the client knows it."""

    id: str
    result: Result

    @property
    def span(self) -> Span:
        """The reported place."""
        return self.result.diagnostic.span


@record(frozen=True)
class Analysis:
    """What tclint said of one state of a document.

    ``is_broken`` when Python cannot read it: then findings outside the part that is broken may be
    those of an earlier state. ``looked`` is what was looked at for its sake.
    """

    document: Document
    file: SourceFile
    config: Config
    reported: tuple[Reported, ...]
    is_broken: bool = False
    looked: Looked = NOTHING

    def compiled_on(self, row: int) -> tuple[RegionSeen, ...]:
        """The regions that a row of the document compiles."""
        here = (str(self.document.path), row)
        return tuple(
            region
            for region in self.looked.regions
            if any((place.filename, place.row) == here for place in region.places)
        )

    def find(self, ids: Iterable[str]) -> tuple[Reported, ...]:
        """The findings with these ids; those of an earlier analysis are not found."""
        wanted = set(ids)
        return tuple(r for r in self.reported if r.id in wanted)

    def touching(self, start: Position, end: Position) -> tuple[Reported, ...]:
        """The findings that share a place with a stretch of the document."""
        return tuple(r for r in self.reported if r.span.start <= end and start <= r.span.end)

    def on_rows(self, first: int, last: int) -> tuple[Reported, ...]:
        """The findings that share a line with a stretch of the document."""
        return tuple(
            r for r in self.reported if r.span.start.row <= last and first <= r.span.end.row
        )


def report_ids(version: int, results: Iterable[Result]) -> tuple[Reported, ...]:
    """Name the findings of one state of a document.

    The names depend on the version and the place alone, so that asking twice yields the same ones
    and a change of the document makes all of them stale.
    """
    reported: dict[str, Reported] = {}
    for result in results:
        start = result.diagnostic.span.start
        name = f"{version}:{result.diagnostic.code}:{start.row}:{start.column}"
        same = sum(1 for known in reported if known.startswith(f"{name}:"))
        unique = f"{name}:{same}"
        reported[unique] = Reported(unique, result)
    return tuple(reported.values())


def document_path(uri: str, root: Path) -> Path:
    """The path of a document; one that was never saved is placed in the workspace's root.

    So is one whose name no file can have.
    """
    path = to_fs_path(uri)
    if path is not None and _can_exist(path):
        return Path(path)
    name = Path(unquote(urlparse(uri).path)).name or "untitled"
    beside = root / (name if name.endswith(SUFFIXES) else f"{name}.py")
    return beside if _can_exist(str(beside)) else root / "untitled.py"


def _can_exist(path: str) -> bool:
    """Whether a file can have this name: it may be too long, or hold what none may."""
    try:
        os.lstat(path)
    except ValueError:
        return False
    except OSError as error:
        return error.errno not in {ENAMETOOLONG, EINVAL}
    return True
