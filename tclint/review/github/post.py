"""Posts a review on GitHub: one review with comments, later runs change what has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tclint.records import record
from tclint.report.view import count
from tclint.review import marks
from tclint.review.client import RejectedError
from tclint.review.github.api import GitHub, Summary
from tclint.review.github.bodies import clipped, comment_body, review_payload
from tclint.review.github.threads import resolve_threads
from tclint.review.markdown import code, link, prose
from tclint.review.plan import Comment, Review
from tclint.review.reconcile import Changes, Done, reconcile, resolved_body
from tclint.review.rounds import SETTLING, until_certain


@record(frozen=True)
class Place:
    """A pull request; ``before_post`` is called before anything is created there."""

    github: GitHub
    number: int
    before_post: Callable[[], object] = lambda: None

    def create(self, payload: dict[str, Any]) -> None:
        """Create a review."""
        self.before_post()
        self.github.create_review(self.number, payload)


def post_review(place: Place, review: Review, *, settling: float = SETTLING) -> Done:
    """Bring the pull request's comments up to date; what GitHub shows is the only memory.

    Raises:
        ForbiddenError: the token may not write here, as in a workflow of a fork.
        ApiError: GitHub did not do it.
    """
    return until_certain(place.github.client, settling, lambda: _round(place, review))


def post_failure(place: Place, base: str, head: str, reason: str) -> None:
    """Say in the summary that there is no review, and leave the comments as they are.

    Raises:
        ApiError: GitHub did not take it.
    """
    text = f"**tclint** could not review this: {prose(reason)}\n\n{marks.summary(base, head)}"
    review = Review(base, head, clipped(text), (), (), ())
    _sum_up(place, review, place.github.summary(place.number))


def _round(place: Place, review: Review) -> Done:
    github = place.github
    changes = reconcile(review, github.posted(place.number), comment_body)
    _say(place, review, changes)
    for old, comment in changes.edited:
        github.edit_comment(old.name, comment_body(comment))
    for old in changes.gone:
        github.edit_comment(old.name, resolved_body(old, review.head))
    for old in changes.extra:
        github.delete_comment(old.name)
    if changes.gone:
        resolve_threads(github, place.number, {old.name for old in changes.gone})
    return Done(len(changes.new), len(changes.edited), len(changes.gone), len(changes.extra))


def _say(place: Place, review: Review, changes: Changes) -> None:
    """Post what is new; nothing is said on a change that never had a finding."""
    summary = place.github.summary(place.number)
    if changes.new:
        body = review.summary if summary is None else _pointer(changes.new, summary)
        try:
            place.create(review_payload(review, changes.new, body))
        except RejectedError:
            # One comment that GitHub does not take spoils the request: the head has moved, or the
            # diff is cut. The findings are told all the same.
            review = replace(review, summary=_with_findings(review.summary, changes.new))
        else:
            if summary is None:
                return
    if summary is not None or not review.clean:
        _sum_up(place, review, summary)


def _sum_up(place: Place, review: Review, summary: Summary | None) -> None:
    body = clipped(review.summary)
    if summary is None:
        place.create(review_payload(review, ()))
    elif summary.body != body:
        place.github.edit_review(place.number, summary.name, body)


def _with_findings(summary: str, comments: tuple[Comment, ...]) -> str:
    text, _, mark = summary.rpartition("\n\n")
    told = (f"{code(f'{comment.path}:{comment.line}')}: {comment.text}" for comment in comments)
    return "\n\n".join((text, *told, mark))


def _pointer(comments: tuple[Comment, ...], summary: Summary) -> str:
    more = count(len(comments), "more finding")
    return f"**tclint**: {more}; see {link('the summary', summary.url)}.\n\n{marks.MORE}"
