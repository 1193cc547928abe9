"""What would remove a break besides a fix, in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import Remedy, RemedyKind

if TYPE_CHECKING:
    from tclint.diagnostics import ChainLink, Diagnostic
    from tclint.report.view import View

_MOST_PLACES = 3


def remedy_notes(diagnostic: Diagnostic, view: View) -> Iterator[tuple[str, str]]:
    """The remedies of a finding, each with what it is about and what it risks."""
    for remedy in diagnostic.remedies:
        if remedy.kind is RemedyKind.SETTING:
            yield "setting", f"{written(remedy)} {where(remedy, view)} ({remedy.changes})"
        else:
            changes = f" ({remedy.changes})" if remedy.changes else ""
            yield "escape hatch", remedy.message + changes


def written(remedy: Remedy) -> str:
    """The lines of a setting."""
    return " and ".join(f"`{line}`" for line in remedy.lines)


def where(remedy: Remedy, view: View) -> str:
    """Where to write the lines of a setting."""
    places = [_place(place, view) for place in remedy.places]
    if not places:
        return "before you call what you compile"
    more = len(places) - _MOST_PLACES
    shown = ", ".join(places[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")
    return f"before {shown}"


def _place(place: ChainLink, view: View) -> str:
    return f"{view.path(Path(place.filename))}:{place.row}"
