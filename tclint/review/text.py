"""The review as people read it in a terminal."""

from __future__ import annotations

from tclint.review.github.bodies import comment_body
from tclint.review.plan import Comment, Review


def to_text(review: Review) -> str:
    """The summary, then each comment under the lines that it is for."""
    parts = [review.summary, *(_comment(comment) for comment in review.comments)]
    return "\n\n".join(parts) + "\n"


def _comment(comment: Comment) -> str:
    several = comment.first < comment.last
    lines = f"{comment.first}-{comment.last}" if several else str(comment.last)
    return f"=== {comment.path}:{lines}\n{comment_body(comment)}"
