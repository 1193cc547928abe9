"""Turns an outcome into a review."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Decline, Fix
from tclint.git.diff import Added
from tclint.report.severity import level
from tclint.report.told import told
from tclint.report.view import effect_text
from tclint.review import marks
from tclint.review.findings import Introduced, Outcome
from tclint.review.plan import MAX_COMMENTS, MAX_NOTES, Comment, Note, Review, Shown
from tclint.review.suggestion import suggestion
from tclint.review.wording import changes, explanation, remedy, summary, why

if TYPE_CHECKING:
    from tclint.lint.engine import Result

FixOf = Callable[["Result"], "Fix | Decline | None"]


def compose(
    outcome: Outcome,
    fix_of: FixOf,
    shown: Shown | None = None,
    *,
    most: int = MAX_COMMENTS,
) -> Review:
    """Write the review of an outcome.

    A comment is put only on lines that ``shown`` holds, the added ones if it is not known;
    findings elsewhere, and those over ``most``, stand in the summary.
    """
    comments: list[Comment] = []
    left_over: list[Introduced] = []
    for finding in outcome.introduced:
        stretch = _stretch(finding, shown)
        if stretch is None or len(comments) >= most:
            left_over.append(finding)
        else:
            comments.append(_comment(finding, fix_of, stretch))
    paragraphs = [*summary(outcome, left_over), marks.summary(outcome.base, outcome.head)]
    return Review(
        outcome.base,
        outcome.head,
        "\n\n".join(paragraphs),
        tuple(comments),
        tuple(_note(finding) for finding in outcome.introduced[:MAX_NOTES]),
        tuple(finding.fingerprint for finding in outcome.introduced),
        complete=not outcome.unreadable,
    )


def _stretch(finding: Introduced, shown: Shown | None) -> Added | None:
    if shown is None:
        return finding.added
    holding = (s for s in shown.get(finding.path, ()) if s.holds(finding.line, finding.line))
    return next(holding, None)


def _comment(finding: Introduced, fix_of: FixOf, stretch: Added) -> Comment:
    fix = fix_of(finding.result)
    offer = (
        suggestion(finding.result.file, fix.edits, stretch)
        if isinstance(fix, Fix) and fix.applicability is not Applicability.DISPLAY
        else None
    )
    parts = [*explanation(finding), *remedy(finding, fix, offered=offer is not None)]
    if isinstance(fix, Fix) and offer is None:
        parts += changes(finding.result.file, fix)
    text = "\n\n".join((*parts, *why(finding)))
    first, last = (offer.first, offer.last) if offer else (finding.line, finding.line)
    lines = offer.lines if offer else None
    return Comment(finding.path, finding.line, first, last, text, lines, finding.fingerprint)


def _note(finding: Introduced) -> Note:
    diagnostic = finding.result.diagnostic
    lines = [diagnostic.message, f"effect: {effect_text(diagnostic)}"]
    if finding.chain:
        lines.append(f"reached: {finding.chain}")
    lines += [f"{label}: {text}" for label, text in told(finding.result).below]
    return Note(
        finding.path,
        finding.line,
        level(diagnostic),
        f"{diagnostic.code} {diagnostic.name}",
        "\n".join(lines),
        finding.fingerprint,
    )
