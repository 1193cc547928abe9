"""The invisible marks by which a later run knows what an earlier one posted."""

from __future__ import annotations

import re
from typing import Final

MORE: Final = "<!-- tclint:more -->"
"""Marks a review that only brings comments; the summary stands in an earlier one."""

_LIVE: Final = re.compile(r"<!-- tclint:([0-9a-f]{16}:\d+) -->\s*$")
_SUMMARY: Final = re.compile(r"<!-- tclint:review [0-9a-f]+ [0-9a-f]+ -->\s*$")


def live(fingerprint: str) -> str:
    """The mark of a comment whose finding is there."""
    return f"<!-- tclint:{fingerprint} -->"


def resolved(fingerprint: str) -> str:
    """The mark of a comment whose finding has gone."""
    return f"<!-- tclint:resolved {fingerprint} -->"


def summary(base: str, head: str) -> str:
    """The mark of a summary."""
    return f"<!-- tclint:review {base} {head} -->"


def fingerprint_in(body: str) -> str | None:
    """The fingerprint of a live comment; the mark counts only where a comment ends with it."""
    found = _LIVE.search(body)
    return found[1] if found else None


def is_summary(body: str) -> bool:
    """Whether a text is a summary."""
    return _SUMMARY.search(body) is not None
