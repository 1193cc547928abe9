"""What an analysis did not follow, as findings: silence would say that nothing is there."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from tclint.diagnostics import Confidence, Diagnostic, Effect, Position, Span
from tclint.lint.codes import NOT_FOLLOWED
from tclint.lint.file_rules import NotFollowed
from tclint.semantics.bounds import Bound, Cut, Cuts, Unclear


def not_followed(cuts: Cuts, checked: Collection[Path]) -> Iterator[tuple[Diagnostic, Cut]]:
    """Each place where findings may be missing, once for each bound.

    What is cut off in an installed package is told at the call of a checked file that leads there.
    """
    known: set[tuple[Bound | Unclear, Path, int]] = set()
    for (bound, _), cut in cuts.found.items():
        place = _place(cut, checked) if bound.hides else None
        if place is None or (bound, place[0], place[1].start.row) in known:
            continue
        path, span = place
        known.add((bound, path, span.start.row))
        yield _diagnostic(bound, path, span), cut


def _place(cut: Cut, checked: Collection[Path]) -> tuple[Path, Span] | None:
    file = cut.module.file
    if file.path in checked:
        start = file.span(cut.statement).start
        return file.path, Span(start, _end(file.line(start.row), start))
    calls = ((Path(link.filename), link.row) for link in reversed(cut.chain))
    called = next((one for one in calls if one[0] in checked), None)
    if called is None:
        return None
    place = Position(called[1], 1)
    return called[0], Span(place, place)


def _end(line: str, start: Position) -> Position:
    """The end of a statement's first line."""
    return Position(start.row, max(start.column, len(line.rstrip()) + 1))


def _diagnostic(bound: Bound | Unclear, path: Path, span: Span) -> Diagnostic:
    message = f"Not followed: {bound}, so findings may be missing"
    return Diagnostic(
        NOT_FOLLOWED, NotFollowed.name, message, Effect.NONE, Confidence.HIGH, path, span,
        instead=bound.instead or NotFollowed.instead,
    )  # fmt: skip
