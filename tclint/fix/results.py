"""What fixing came to, as plain data."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Applicability, Change, Decline, Diagnostic, Edit, Fix, Span
from tclint.records import record

if TYPE_CHECKING:
    from tclint.lint.engine import Run


@record(frozen=True, order=True)
class FixKey:
    """Names one fix across passes and runs: where its finding is in the unfixed file.

    ``unsure`` says that the finding is too unsure to be shown, as what another fix has left of one
    that is shown may be.
    """

    path: Path
    span: Span
    code: str
    unsure: bool = False


def key_of(diagnostic: Diagnostic) -> FixKey:
    """The name of a fix of a finding in the unfixed file."""
    return FixKey(diagnostic.path, diagnostic.span, diagnostic.code)


@record(frozen=True)
class Remedies:
    """What to do about findings that no fix removes: settings to turn on, by name.

    ``unsure``: fix findings, too, that are too unsure to be shown, since a run confirms what comes
    of it.
    """

    settings: frozenset[str] = frozenset()
    unsure: bool = False


NO_REMEDIES: Final = Remedies()


@record(frozen=True)
class AppliedFix:
    """A fix that was carried out.

    The spans, those of ``diagnostic`` too, are places in the unfixed file. Where fixes of several
    passes met in one place the edit there is theirs together, and each of them has it. Its finding
    ``follows`` where no check of the unfixed file shows it: other fixes brought it up. What turns
    settings on ``settles`` several findings. ``unsure``: its finding is too unsure to be shown.
    """

    diagnostic: Diagnostic
    message: str
    applicability: Applicability
    change: Change = Change.SAME_BITS
    changes: str = ""
    edits: tuple[Edit, ...] = ()
    follows: bool = False
    settles: tuple[Diagnostic, ...] = ()
    unsure: bool = False

    @property
    def key(self) -> FixKey:
        """The name of the fix."""
        return replace(key_of(self.diagnostic), unsure=self.unsure)

    @property
    def fix(self) -> Fix:
        """The fix as reports show it."""
        return Fix(self.message, self.applicability, self.change, self.edits)


@record(frozen=True)
class FixedFile:
    """A file's text before and after fixing, with the fixes in the order of their passes."""

    path: Path
    before: str
    after: str
    encoding: str
    fixes: tuple[AppliedFix, ...] = ()

    @property
    def applied(self) -> tuple[str, ...]:
        """The codes of the fixes."""
        return tuple(fix.diagnostic.code for fix in self.fixes)


@record(frozen=True)
class Declined:
    """A finding whose fix met an obstacle when it was to be carried out."""

    diagnostic: Diagnostic
    decline: Decline


@record(frozen=True)
class FixRun:
    """What fixing came to: ``remaining`` is the check of the repaired texts.

    Where a fix had to be taken back, ``remaining.errors`` says so.
    """

    changed: tuple[FixedFile, ...]
    remaining: Run
    declined: tuple[Declined, ...] = ()

    @property
    def fixes(self) -> tuple[AppliedFix, ...]:
        """All fixes that were carried out."""
        return tuple(fix for file in self.changed for fix in file.fixes)
