"""The review for a job whose token may write nothing: in its log, and on the page of its run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tclint.printable import printable, visible
from tclint.report.workflow import command
from tclint.review.forge import Forge
from tclint.review.plan import Note, Review

_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}


def annotate(review: Review, forge: Forge, environ: Mapping[str, str]) -> str:
    """What to print: workflow commands for GitHub, lines for others.

    On GitHub the summary goes to the page of the workflow's run.
    """
    page = environ.get("GITHUB_STEP_SUMMARY")
    if page:
        with Path(page).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(printable(f"{review.summary}\n"))
    written = _command if forge is Forge.GITHUB else _line
    return "".join(f"{written(note)}\n" for note in review.notes)


def _line(note: Note) -> str:
    message = note.message.partition("\n")[0]
    return visible(f"{note.path}:{note.line}: {note.title}: {message}")


def _command(note: Note) -> str:
    properties = {"title": f"tclint ({note.title})", "file": note.path, "line": str(note.line)}
    return command(_COMMANDS[note.level], properties, note.message)
