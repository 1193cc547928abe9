"""Posts a review on GitHub: one review with comments, later runs change what has changed."""

from __future__ import annotations

from dataclasses import replace

from tclint.report.view import count
from tclint.review import marks
from tclint.review.client import RejectedError
from tclint.review.github.api import GitHub, Summary
from tclint.review.github.bodies import clipped, comment_body, review_payload
from tclint.review.github.threads import resolve_threads
from tclint.review.markdown import code, link
from tclint.review.plan import Comment, Review
from tclint.review.reconcile import Changes, Done, reconcile, resolved_body
from tclint.review.rounds import SETTLING, until_certain


def post_review(github: GitHub, number: int, review: Review, *, settling: float = SETTLING) -> Done:
    """Bring the pull request's comments up to date; what GitHub shows is the only memory.

    Raises:
        ForbiddenError: the token may not write here, as in a workflow of a fork.
        ApiError: GitHub did not do it.
    """
    return until_certain(github.client, settling, lambda: _round(github, number, review))


def _round(github: GitHub, number: int, review: Review) -> Done:
    changes = reconcile(review, github.posted(number), comment_body)
    _say(github, number, review, changes)
    for old, comment in changes.edited:
        github.edit_comment(old.name, comment_body(comment))
    for old in changes.gone:
        github.edit_comment(old.name, resolved_body(old, review.head))
    for old in changes.extra:
        github.delete_comment(old.name)
    if changes.gone:
        resolve_threads(github, number, {old.name for old in changes.gone})
    return Done(len(changes.new), len(changes.edited), len(changes.gone), len(changes.extra))


def _say(github: GitHub, number: int, review: Review, changes: Changes) -> None:
    """Post what is new; nothing is said on a change that never had a finding."""
    summary = github.summary(number)
    if changes.new:
        body = review.summary if summary is None else _pointer(changes.new, summary)
        try:
            github.create_review(number, review_payload(review, changes.new, body))
        except RejectedError:
            # One comment that GitHub does not take spoils the request: the head has moved, or the
            # diff is cut. The findings are told all the same.
            review = replace(review, summary=_with_findings(review.summary, changes.new))
        else:
            if summary is None:
                return
    if summary is not None or not review.clean:
        _sum_up(github, number, review, summary)


def _sum_up(github: GitHub, number: int, review: Review, summary: Summary | None) -> None:
    body = clipped(review.summary)
    if summary is None:
        github.create_review(number, review_payload(review, ()))
    elif summary.body != body:
        github.edit_review(number, summary.name, body)


def _with_findings(summary: str, comments: tuple[Comment, ...]) -> str:
    text, _, mark = summary.rpartition("\n\n")
    told = (f"{code(f'{comment.path}:{comment.line}')}: {comment.text}" for comment in comments)
    return "\n\n".join((text, *told, mark))


def _pointer(comments: tuple[Comment, ...], summary: Summary) -> str:
    more = count(len(comments), "more finding")
    return f"**tclint**: {more}; see {link('the summary', summary.url)}.\n\n{marks.MORE}"
