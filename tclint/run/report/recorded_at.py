"""What other programs need to know of a report: its form, its commit, and the texts that ran."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from tclint import __version__
from tclint.git.run import in_repository
from tclint.report.origin import commit_of
from tclint.run.cells import is_cell
from tclint.run.session import Answer
from tclint.source.decode import read_source
from tclint.source.errors import SourceError

SCHEMA: Final = 2
"""The form of the JSON report. The first had no number, and its lines no paths."""


def recorded_at(answer: Answer, folder: Path) -> dict[str, Any]:
    """The head of a report that was made in a folder."""
    return {
        "schema": SCHEMA,
        "tclint": __version__,
        "commit": commit_of(folder) or None,
        "priced": answer.priced,
        "texts": dict(_texts(answer, top_of(folder))),
    }


def top_of(folder: Path) -> Path:
    """The folder that paths start at: the repository's, or the folder itself if it is in none."""
    return in_repository(folder).folder


def path_from(top: Path, filename: str) -> str | None:
    """A file as its repository names it; None of one that is elsewhere, or a cell."""
    if is_cell(filename):
        return None
    path = Path(filename).resolve()
    return path.relative_to(top).as_posix() if path.is_relative_to(top) else None


@lru_cache(maxsize=64)
def digest(text: str) -> str:
    """What tells texts apart, whatever their lines end with: Git may have changed that."""
    same = text.replace("\r\n", "\n").replace("\r", "\n")
    return sha256(same.encode("utf-8", "surrogatepass")).hexdigest()


def _texts(answer: Answer, top: Path) -> Iterator[tuple[str, str]]:
    """The digest of each file that a line of the report is in."""
    for name in sorted({line.filename for line in answer.joined.lines}):
        path = path_from(top, name)
        if path is not None:
            try:
                yield path, digest(read_source(Path(name)).text)
            except SourceError:
                continue
