"""The review of an outcome as plain data: what is to be said, where, and how it is recognised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tclint.git.diff import Added
from tclint.records import record

MAX_COMMENTS: Final = 40
"""Forges limit how much one request may create; what is over stands in the summary."""

MAX_NOTES: Final = 1000
"""Annotations on one change: nobody reads more, and a hostile change could bring any number."""

Shown = Mapping[str, Sequence[Added]]
"""The stretches of each file on which the forge takes comments."""


@record(frozen=True)
class Comment:
    """A comment on lines of the new side of the diff.

    ``line`` is the finding's. ``replacement`` are the lines to suggest in the place of those from
    ``first`` to ``last``, or None. ``text`` is Markdown.
    """

    path: str
    line: int
    first: int
    last: int
    text: str
    replacement: tuple[str, ...] | None
    fingerprint: str


@record(frozen=True)
class Note:
    """A finding in plain text, for annotations; ``level`` is ``error``, ``warning``, ``note``."""

    path: str
    line: int
    level: str
    title: str
    message: str
    fingerprint: str


@record(frozen=True)
class Review:
    """A summary (Markdown), comments, and all findings as notes.

    ``fingerprints`` are those of all findings: more than the comments', because of the limits.
    ``complete`` says that every changed file could be checked.
    """

    base: str
    head: str
    summary: str
    comments: tuple[Comment, ...]
    notes: tuple[Note, ...]
    fingerprints: tuple[str, ...]
    complete: bool = True

    @property
    def clean(self) -> bool:
        """Whether there is nothing to say."""
        return self.complete and not self.fingerprints
