"""The settings of Dynamo that remove findings: said once, below all findings of a run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability
from tclint.printable import visible
from tclint.report.view import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tclint.diagnostics import ChainLink, Remedy
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

_MOST_PLACES = 3


def settings_lines(run: Run, view: View) -> Iterator[str]:
    """What to turn on and where, how many findings go with it, and what else it changes.

    One line for all that is compiled at the same places, the most findings first. What a safe fix
    removes needs no setting.
    """
    by_places: dict[tuple[ChainLink, ...], list[Remedy]] = {}
    for remedy in needed(run.results):
        by_places.setdefault(remedy.places, []).append(remedy)
    for places, found in sorted(by_places.items(), key=lambda item: -len(item[1])):
        yield said(
            found, _where(places, view), " (`tclint fix --remedies settings`)" * bool(places)
        )


def needed(results: Iterable[Result]) -> Iterator[Remedy]:
    """The settings that remove findings, without those that a safe fix removes."""
    for result in results:
        if result.diagnostic.fixable is not Applicability.SAFE:
            yield from result.diagnostic.remedies


def said(found: Sequence[Remedy], where: str, how: str = "") -> str:
    """One sentence for settings that are written at one place: what they remove and risk."""
    lines = dict.fromkeys(line for remedy in found for line in remedy.lines)
    risks = dict.fromkeys(remedy.changes for remedy in found if remedy.changes)
    what = " and ".join(f"`{line}`" for line in lines)
    does = f"{'remove' if len(lines) > 1 else 'removes'} {count(len(found), 'finding')}"
    return "; ".join([f"{what} {where} {does}{how}", *risks]) + "."


def _where(places: tuple[ChainLink, ...], view: View) -> str:
    """Where to write the lines of a setting."""
    if not places:
        return "before you call what you compile"
    named = [f"{visible(view.path(Path(place.filename)))}:{place.row}" for place in places]
    more = len(named) - _MOST_PLACES
    return f"before {', '.join(named[:_MOST_PLACES])}{f' and {more} more' if more > 0 else ''}"
