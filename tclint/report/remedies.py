"""What would remove a break besides a fix, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import Remedy, RemedyKind

if TYPE_CHECKING:
    from tclint.diagnostics import ChainLink, Diagnostic
    from tclint.report.view import View

_MOST_PLACES = 3


def remedy_notes(
    diagnostic: Diagnostic, view: View, told: set[Remedy]
) -> Iterator[tuple[str, str]]:
    """The remedies of a finding, each with what it is about and what it risks.

    What is among the ``told`` ones refers to them; the others become told.
    """
    for remedy in diagnostic.remedies:
        if remedy.kind is RemedyKind.SETTING:
            risk = _risk(replace(remedy, places=()), told)
            yield "setting", f"{written(remedy)} {where(remedy, view)}{risk}"
        else:
            yield "escape hatch", remedy.message + _risk(remedy, told)


def _risk(remedy: Remedy, told: set[Remedy]) -> str:
    if not remedy.changes:
        return ""
    text = "as above" if remedy in told else remedy.changes
    told.add(remedy)
    return f" ({text})"


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
