"""What other programs need to know of a report: its form, and its commit."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tclint import __version__
from tclint.git.run import in_repository
from tclint.report.origin import commit_of
from tclint.run.cells import is_cell
from tclint.run.session import Answer

SCHEMA: Final = 3
"""The form of the JSON report. The first had no number, and its lines no paths; the second had the
digests of the texts that ran."""


def recorded_at(answer: Answer, folder: Path) -> dict[str, Any]:
    """The head of a report that was made in a folder."""
    return {
        "schema": SCHEMA,
        "tclint": __version__,
        "commit": commit_of(folder) or None,
        "priced": answer.priced,
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
