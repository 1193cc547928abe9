"""How far a rewriting is proved, and how several verdicts make one."""

from __future__ import annotations

from collections.abc import Iterable

from tclint.diagnostics import Change
from tclint.records import record


@record(frozen=True)
class Proved:
    """The program does exactly the same afterwards."""


@record(frozen=True)
class Changes:
    """The rewriting works, but ``what`` may differ, and so far: only for an unsafe fix."""

    what: str
    change: Change = Change.BEHAVIOUR


@record(frozen=True)
class Refused:
    """The rewriting would not work, or would not remove the graph break: ``why``."""

    why: str


Verdict = Proved | Changes | Refused
PROVED = Proved()


def combine(verdicts: Iterable[Verdict]) -> Verdict:
    """The weakest of several verdicts; all changes are named."""
    changes: dict[str, Change] = {}
    for verdict in verdicts:
        if isinstance(verdict, Refused):
            return verdict
        if isinstance(verdict, Changes):
            changes[verdict.what] = verdict.change
    if not changes:
        return PROVED
    return Changes("; ".join(changes), max(changes.values(), key=[*Change].index))
