"""The last line of a report for people."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tclint.config_places import PLACE_NAMES
from tclint.diagnostics import Applicability, Effect
from tclint.report.place import listed
from tclint.report.view import count

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tclint.lint.engine import Run


def summary(run: Run, known: int = 0) -> str:
    """How much was found, how much of it can be fixed, and what is not shown.

    ``known`` is the number of findings that a baseline took out.
    """
    parts = (_found(run), _fixable(run), *_not_shown(run, known))
    return " ".join(part for part in parts if part)


def _not_shown(run: Run, known: int) -> Iterator[str]:
    if known:
        yield f"{count(known, 'known finding')} in the baseline."
    if run.left_out:
        yield f"{count(run.left_out, 'finding')} left out (`leave-out`)."
    if run.hidden:
        yield f"{count(run.hidden, 'weak finding')} not shown (`--weak`)."
    if run.around.left_out:
        more = count(run.around.left_out, "more file")
        were = "was" if run.around.left_out == 1 else "were"
        yield f"{more} that may call into this {were} not read: check the whole project."
    if run.around.unread:
        more = count(run.around.unread, "other file")
        were = "was" if run.around.unread == 1 else "were"
        yield f"{more} of the project {were} not searched for callers: check the whole project."
    if run.around.unseen:
        yield f"{run.around.unseen} is too large to be searched for callers."


def _elsewhere(run: Run) -> str:
    """How many of the findings are in tests and the like."""
    found = Counter(result.place for result in run.results)
    text = listed([(place, found[place]) for place in PLACE_NAMES if found[place]])
    return f", {text}" if text else ""


def _found(run: Run) -> str:
    unread = f"{count(len(run.unread), 'file')} could not be checked."
    if run.results:
        found = f"Found {count(len(run.results), 'finding')}{_breaks(run)}{_elsewhere(run)}."
        return f"{found} {unread}" if run.unread else found
    return f"No findings, but {unread}" if run.unread else "All checks passed!"


def _breaks(run: Run) -> str:
    breaks = sum(result.diagnostic.effect is Effect.GRAPH_BREAK for result in run.results)
    return f" ({count(breaks, 'graph break')})" if breaks else ""


def _fixable(run: Run) -> str:
    offered = [result.diagnostic.fixable for result in run.results]
    safe, unsafe = offered.count(Applicability.SAFE), offered.count(Applicability.UNSAFE)
    if safe and unsafe:
        return f"[*] {safe} fixable with `tclint fix`, {unsafe} more with `--unsafe-fixes`."
    if safe:
        return f"[*] {safe} fixable with `tclint fix`."
    if unsafe:
        return f"{unsafe} fixable with `tclint fix --unsafe-fixes`."
    return ""
