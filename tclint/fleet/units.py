"""What travels between the driver and its workers: units of work, and what they measured."""

from __future__ import annotations

from tclint.fleet.config import Measures
from tclint.records import record

WHOLE, BREAKS, NOTHING, FAILED = "whole", "breaks", "nothing", "failed"
"""The outcomes: one graph, several, none at all; or the target did not run."""
KILLED, MISSING, LOST = "killed", "missing", "lost"
"""Kinds of failures beside those of verify: ended from outside, a package that is not installed,
and a machine that was gone."""


@record(frozen=True)
class Unit:
    """One target in one arm: all that a worker needs to know.

    ``key`` stands for everything that the result depends on except the code of the target, ``text``
    is how the target is written, ``root`` the tree that it is imported from, and ``python`` the
    interpreter that runs it, where that is another one.
    """

    key: str
    target: str
    arm: str
    text: str
    root: str
    measures: Measures
    python: str = ""
    phase: str = "forward"
    inputs: tuple[str, ...] = ()
    fixed: bool = False
    unsafe_fixes: bool = False

    @property
    def needs(self) -> str:
        """What it takes: a ``cpu``, a ``gpu``, or to be ``alone``, as what is timed on a CPU."""
        if self.measures.device == "cuda":
            return "gpu"
        return "alone" if self.measures.speed else "cpu"


@record(frozen=True)
class BreakLine:
    """A line that breaks the graph; ``rule`` is the code of the rule that sees it, if one does."""

    place: str
    row: int
    gb_id: str
    reason: str
    rule: str = ""


@record(frozen=True)
class ModeSpeed:
    """Milliseconds of a call in one mode, and the speedup with its 95% interval.

    Of fixed code the speedup is over the code as found, else over eager code.
    """

    mode: str
    eager: float | None = None
    compiled: float | None = None
    speedup: float | None = None
    low: float | None = None
    high: float | None = None
    cold_start: float | None = None
    note: str = ""


@record(frozen=True)
class CodeFile:
    """A file that a target loaded, relative to its tree, and a digest of its content."""

    path: str
    digest: str


@record(frozen=True)
class Measured:
    """What became of a unit; one that failed has a ``failure`` and a ``reason``.

    ``verdict`` and ``detail`` compare results: of fixed code with the code as found, else of
    compiled code with eager code. ``breaks_before`` are those of the code as found, ``fixes`` the
    codes of the rules whose fixes were applied. ``exported`` is empty where ``torch.export`` took
    the target, None where nobody asked it.
    """

    outcome: str
    reason: str = ""
    failure: str = ""
    torch: str = ""
    device: str = ""
    graphs: int = 0
    recompiles: int = 0
    breaks: tuple[BreakLine, ...] = ()
    breaks_before: int | None = None
    verdict: str = ""
    detail: str = ""
    fixes: tuple[str, ...] = ()
    speeds: tuple[ModeSpeed, ...] = ()
    exported: str | None = None
    seconds: float = 0.0
    code: tuple[CodeFile, ...] = ()


def failed(kind: str, reason: str, seconds: float = 0.0) -> Measured:
    """What is kept of a unit that gave no result."""
    return Measured(FAILED, reason, kind, seconds=seconds)
