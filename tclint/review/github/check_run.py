"""Posts a review as a check run with annotations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from tclint.report.view import count
from tclint.review.github.api import CheckRun, GitHub
from tclint.review.github.bodies import clipped
from tclint.review.plan import Note, Review
from tclint.review.rounds import SETTLING, until_certain

NAME: Final = "tclint review"
MARK: Final = "tclint-review"
PER_REQUEST: Final = 50
"""GitHub takes that many annotations at once; more are added by further requests."""

_LEVELS: Final = {"error": "failure", "warning": "warning", "note": "notice"}


def post_check_run(github: GitHub, review: Review, *, settling: float = SETTLING) -> int:
    """Report on the head commit, or go on where an earlier run on the same commit stopped.

    Returns how many annotations were sent.

    Raises:
        ForbiddenError: the token may not write checks.
        ApiError: GitHub did not do it.
    """
    return until_certain(github.client, settling, lambda: _round(github, review))


def _round(github: GitHub, review: Review) -> int:
    run = github.check_run(review.head, NAME, MARK) or CheckRun(_start(github, review), 0)
    notes = review.notes[run.annotations :]
    for batch in [*_batches(notes)] or [()]:
        github.edit_check_run(run.name, _payload(review, batch))
    return len(notes)


def _start(github: GitHub, review: Review) -> int:
    return github.create_check_run(
        {
            "name": NAME,
            "head_sha": review.head,
            "external_id": MARK,
            "status": "in_progress",
        }
    )


def _batches(notes: Sequence[Note]) -> Iterator[Sequence[Note]]:
    for start in range(0, len(notes), PER_REQUEST):
        yield notes[start : start + PER_REQUEST]


def _payload(review: Review, notes: Sequence[Note]) -> dict[str, Any]:
    number = len(review.fingerprints)
    found = count(number, "finding") if number else "Nothing found"
    output: dict[str, Any] = {
        "title": found if review.complete else f"{found}; not all files could be checked",
        "summary": clipped(review.summary),
    }
    if notes:
        output["annotations"] = [_annotation(note) for note in notes]
    conclusion = "success" if review.clean else "failure" if _fails(review) else "neutral"
    return {"status": "completed", "conclusion": conclusion, "output": output}


def _fails(review: Review) -> bool:
    return any(note.level == "error" for note in review.notes)


def _annotation(note: Note) -> dict[str, Any]:
    return {
        "path": note.path,
        "start_line": note.line,
        "end_line": note.line,
        "annotation_level": _LEVELS[note.level],
        "title": note.title[:255],
        "message": note.message[:16_000],
    }
