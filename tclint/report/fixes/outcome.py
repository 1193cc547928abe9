"""What became of each fix, for the reports."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from tclint.records import record
from tclint.report.view import count

if TYPE_CHECKING:
    from tclint.fix.results import AppliedFix, FixedFile, FixRun
    from tclint.lint.engine import Run


class Status(str, Enum):
    """What was done with a fix."""

    APPLIED = "applied"
    OFFERED = "offered"
    DROPPED = "dropped"


class Ground(str, Enum):
    """Why a fix was kept or dropped."""

    CONFIRMED = "confirmed"
    EQUAL = "equal"
    NOT_EXECUTED = "not-executed"
    NO_BREAK = "no-break"
    DEPENDS = "depends"
    STILL_BREAKS = "still-breaks"
    NEW_BREAK = "new-break"
    RECOMPILES = "recompiles"
    DIFFERENT = "different"
    SLOWER = "slower"
    FAILS = "fails"
    NOT_TRIED = "not-tried"
    NOT_WRITTEN = "not-written"


@record(frozen=True)
class Reason:
    """A ground in words, such as ``GB0124 is gone``."""

    ground: Ground
    text: str


@record(frozen=True)
class ReportedFix:
    """A fix and what became of it, with the reason where somebody had to decide.

    ``step`` is the kind of remedy whose worth tells what the fix was good for, with others.
    """

    fix: AppliedFix
    status: Status
    reason: Reason | None = None
    step: str | None = None


@record(frozen=True)
class VerifiedTarget:
    """How one target did before the fixes and with those that were kept."""

    name: str
    breaks_before: int
    breaks_after: int
    results: str


@record(frozen=True)
class Measured:
    """A compiled call: milliseconds, and launches and syncs where the device tells them."""

    milliseconds: float
    launches: int | None
    syncs: int | None


@record(frozen=True)
class Pace:
    """A compiled call of one target before and after a kind of remedy, where both were timed.

    ``ratio`` says how many times as fast it got, None where no difference was measured, which
    ``note`` explains. ``low`` and ``high`` bound it with 95% confidence.
    """

    target: str
    device: str
    note: str
    before: Measured | None = None
    after: Measured | None = None
    ratio: float | None = None
    low: float | None = None
    high: float | None = None


@record(frozen=True)
class Worth:
    """What one kind of remedy did for all targets together; ``lines`` are those of settings.

    One that is not ``kept`` left fewer breaks, and slower compiled code.
    """

    kind: str
    breaks_before: int
    graphs_before: int
    breaks_after: int
    graphs_after: int
    lines: tuple[str, ...] = ()
    pace: tuple[Pace, ...] = ()
    kept: bool = True


@record(frozen=True)
class Verification:
    """The targets that judged the fixes, and how many times they were compiled for it."""

    targets: tuple[VerifiedTarget, ...]
    runs: int
    worth: tuple[Worth, ...] = ()


@record(frozen=True)
class Outcome:
    """Everything that a report of fixing tells."""

    fixes: tuple[ReportedFix, ...]
    changed: tuple[FixedFile, ...]
    remaining: Run
    verification: Verification | None = None

    @property
    def kept(self) -> tuple[ReportedFix, ...]:
        """The fixes that were applied, or would be."""
        return tuple(one for one in self.fixes if one.status is not Status.DROPPED)

    @property
    def told(self) -> str:
        """How many findings the fixes are about, in the words of a check of the unfixed files."""
        follow = sum(one.fix.follows for one in self.kept)
        settled = {one for kept in self.kept for one in kept.fix.settles}
        own = sum(not one.fix.settles for one in self.kept) - follow
        text = count(own + len(settled), "finding")
        return f"{text}, and {follow} that fixing revealed" if follow else text

    @property
    def dropped(self) -> tuple[ReportedFix, ...]:
        """The others."""
        return tuple(one for one in self.fixes if one.status is Status.DROPPED)


def plain_outcome(run: FixRun, status: Status) -> Outcome:
    """The outcome where every fix is taken as it is."""
    return Outcome(tuple(ReportedFix(fix, status) for fix in run.fixes), run.changed, run.remaining)
