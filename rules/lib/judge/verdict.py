"""How far a rewriting is proved, and how several verdicts make one."""

from __future__ import annotations

from collections.abc import Iterable

from tclint.records import record


@record(frozen=True)
class Proved:
    """The program does exactly the same afterwards."""


@record(frozen=True)
class Changes:
    """The rewriting works, but ``what`` may differ: only for an unsafe fix."""

    what: str


@record(frozen=True)
class Refused:
    """The rewriting would not work, or would not remove the graph break: ``why``."""

    why: str


Verdict = Proved | Changes | Refused
PROVED = Proved()


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The weakest of several verdicts; all changes are named."""
    changes: dict[str, None] = {}
    for verdict in verdicts:
        if isinstance(verdict, Refused):
            return verdict
        if isinstance(verdict, Changes):
            changes[verdict.what] = None
    return Changes("; ".join(changes)) if changes else PROVED
