"""Posts a review on GitLab: one discussion a finding, and a note with the summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tclint.review import marks
from tclint.review.client import RejectedError
from tclint.review.gitlab.api import File, GitLab, MergeRequest
from tclint.review.markdown import block, code
from tclint.review.plan import Comment, Review
from tclint.review.reconcile import Changes, Done, reconcile, resolved_body
from tclint.review.rounds import SETTLING, until_certain


def comment_body(comment: Comment) -> str:
    """The text of a comment; a suggestion counts its lines from the one that it is on."""
    mark = marks.live(comment.fingerprint)
    if comment.replacement is None:
        return f"{comment.text}\n\n{mark}"
    above, below = comment.line - comment.first, comment.last - comment.line
    offer = block(f"suggestion:-{above}+{below}", comment.replacement)
    return "\n\n".join((comment.text, offer, mark))


def post_discussions(
    gitlab: GitLab,
    request: MergeRequest,
    files: Mapping[str, File],
    review: Review,
    *,
    settling: float = SETTLING,
) -> Done:
    """Bring the merge request's discussions up to date.

    Discussions are created one by one; what GitLab shows is the only memory, as on GitHub.

    Raises:
        ForbiddenError: the token may not write here.
        ApiError: GitLab did not do it.
    """
    return until_certain(gitlab.client, settling, lambda: _round(gitlab, request, files, review))


def _round(
    gitlab: GitLab, request: MergeRequest, files: Mapping[str, File], review: Review
) -> Done:
    changes = reconcile(review, gitlab.posted(), comment_body)
    refused = _create(gitlab, request, files, changes)
    for old, comment in changes.edited:
        gitlab.edit_comment(old.name, comment_body(comment))
    for old in changes.gone:
        gitlab.edit_comment(old.name, resolved_body(old, review.head))
        gitlab.resolve(old.name)
    for old in changes.extra:
        gitlab.delete_comment(old.name)
    _sum_up(gitlab, review, refused)
    created = len(changes.new) - len(refused)
    return Done(created, len(changes.edited), len(changes.gone), len(changes.extra))


def _create(
    gitlab: GitLab, request: MergeRequest, files: Mapping[str, File], changes: Changes
) -> list[Comment]:
    """Post the new comments; returns those for which GitLab knows no line."""
    refused: list[Comment] = []
    for comment in changes.new:
        file = files.get(comment.path)
        try:
            position = _position(comment, request, file.old_path if file else comment.path)
            gitlab.create_discussion(comment_body(comment), position)
        except RejectedError:
            refused.append(comment)
    return refused


def _position(comment: Comment, request: MergeRequest, old_path: str) -> dict[str, Any]:
    return {
        "position_type": "text",
        "base_sha": request.base,
        "start_sha": request.start,
        "head_sha": request.head,
        "old_path": old_path,
        "new_path": comment.path,
        "new_line": comment.line,
    }


def _sum_up(gitlab: GitLab, review: Review, refused: list[Comment]) -> None:
    text, _, mark = review.summary.rpartition("\n\n")
    told = (f"{code(f'{comment.path}:{comment.line}')}: {comment.text}" for comment in refused)
    body = "\n\n".join((text, *told, mark))
    summary = gitlab.summary()
    if summary is None:
        if not review.clean:
            gitlab.create_note(body)
    elif summary.body != body:
        gitlab.edit_note(summary.name, body)
