"""The review as GitHub's requests take it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tclint.review import marks
from tclint.review.markdown import block
from tclint.review.plan import Comment, Review

_MAX_BODY: Final = 60_000
"""GitHub takes 65,536 characters."""


def comment_body(comment: Comment) -> str:
    """The text of a comment, with its suggestion where that is not too long."""
    mark = marks.live(comment.fingerprint)
    if comment.replacement is not None:
        offer = block("suggestion", comment.replacement)
        if len(offer) + len(comment.text) <= _MAX_BODY:
            return "\n\n".join((comment.text, offer, mark))
    return f"{comment.text}\n\n{mark}"


def comment_payload(comment: Comment) -> dict[str, Any]:
    """The comment as a part of a review: one line needs no start."""
    single = {"path": comment.path, "line": comment.last, "side": "RIGHT"}
    several = {"start_line": comment.first, "start_side": "RIGHT"}
    return {
        **single,
        **(several if comment.first < comment.last else {}),
        "body": comment_body(comment),
    }


def review_payload(
    review: Review, comments: Iterable[Comment] | None = None, body: str | None = None
) -> dict[str, Any]:
    """The body of the request that creates a review, by default of everything."""
    chosen = review.comments if comments is None else comments
    return {
        "commit_id": review.head,
        "event": "COMMENT",
        "body": clipped(review.summary if body is None else body),
        "comments": [comment_payload(comment) for comment in chosen],
    }


def clipped(body: str) -> str:
    """A summary no longer than GitHub takes; its mark stays at the end."""
    if len(body) <= _MAX_BODY:
        return body
    text, _, mark = body.rpartition("\n\n")
    return f"{text[: _MAX_BODY - len(mark) - 10]}\n\n…\n\n{mark}"
