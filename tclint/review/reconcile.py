"""Compares what is to be said with what has been said: a run must not repeat an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tclint.records import record
from tclint.review import marks
from tclint.review.plan import Comment, Review


@record(frozen=True)
class Posted:
    """A live comment of ours; ``name`` is the forge's.

    ``lines`` is how many lines it is on, None where that does not matter to a suggestion.
    """

    name: str
    fingerprint: str
    body: str
    lines: int | None


@record(frozen=True)
class Changes:
    """What is to be done.

    ``edited`` get a new body; ``gone`` are those whose finding has gone or moved; ``extra`` say
    what an older comment says already.
    """

    new: tuple[Comment, ...]
    edited: tuple[tuple[Posted, Comment], ...]
    gone: tuple[Posted, ...]
    extra: tuple[Posted, ...]


@record(frozen=True)
class Done:
    """How many comments were posted, edited, resolved, and removed as doubles."""

    new: int = 0
    edited: int = 0
    resolved: int = 0
    removed: int = 0


def reconcile(
    review: Review, posted: Iterable[Posted], body_of: Callable[[Comment], str]
) -> Changes:
    """Find out what has changed. ``posted`` are in the order in which they were posted."""
    wanted = {comment.fingerprint: comment for comment in review.comments}
    there = frozenset(review.fingerprints)
    seen: set[str] = set()
    edited: list[tuple[Posted, Comment]] = []
    gone: list[Posted] = []
    extra: list[Posted] = []
    for old in posted:
        comment = wanted.get(old.fingerprint)
        if old.fingerprint not in there or (comment is not None and _moved(old, comment)):
            gone.append(old)
        elif old.fingerprint in seen:
            extra.append(old)
        else:
            seen.add(old.fingerprint)
            if comment is not None and body_of(comment) != old.body:
                edited.append((old, comment))
    new = tuple(comment for comment in review.comments if comment.fingerprint not in seen)
    return Changes(new, tuple(edited), tuple(gone), tuple(extra))


def _moved(old: Posted, comment: Comment) -> bool:
    """A suggestion replaces all lines that its comment is on: they must be as many."""
    return old.lines not in (None, comment.last - comment.first + 1)


def resolved_body(old: Posted, head: str) -> str:
    """A comment whose finding has gone: struck off, but readable."""
    text = old.body.rpartition("\n\n")[0]
    return "\n\n".join(
        (
            f"**Resolved** in {head}.",
            f"<details><summary>What it was</summary>\n\n{text}\n\n</details>",
            marks.resolved(old.fingerprint),
        )
    )
