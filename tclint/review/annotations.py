"""The review for a job whose token may write nothing: in its log, and on the page of its run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

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
            stream.write(f"{review.summary}\n")
    written = _command if forge is Forge.GITHUB else _line
    return "".join(f"{written(note)}\n" for note in review.notes)


def _line(note: Note) -> str:
    message = note.message.partition("\n")[0]
    return f"{note.path}:{note.line}: {note.title}: {message}"


def _command(note: Note) -> str:
    properties = {"title": f"tclint ({note.title})", "file": note.path, "line": str(note.line)}
    joined = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[note.level]} {joined}::{_data(note.message)}"


def _data(text: str) -> str:
    """A text that cannot end the command and start another."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
