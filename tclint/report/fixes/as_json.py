"""Every fix with its edits, and what remains, as one JSON object; its keys are stable."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from tclint.printable import json_text
from tclint.report.record import fix_record, location, record
from tclint.report.view import absolute

if TYPE_CHECKING:
    from tclint.report.fixes.outcome import Outcome, ReportedFix
    from tclint.source.errors import FileError


def render(outcome: Outcome) -> str:
    """The object: places of ``fixes`` are those in the files as they were before fixing."""
    verification = outcome.verification
    told = {
        "fixes": [_fix(one) for one in outcome.fixes],
        "findings": [record(result) for result in outcome.remaining.results],
        "errors": [_error(error) for error in outcome.remaining.errors],
        "verification": None if verification is None else asdict(verification),
    }
    return json_text(told) + "\n"


def _fix(one: ReportedFix) -> dict[str, object]:
    diagnostic, reason = one.fix.diagnostic, one.reason
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "message": diagnostic.message,
        "filename": absolute(diagnostic.path),
        "location": location(diagnostic.span.start),
        "end_location": location(diagnostic.span.end),
        "fix": fix_record(one.fix.fix),
        "changes": one.fix.changes or None,
        "follows": one.fix.follows,
        "settles": len(one.fix.settles),
        "status": one.status.value,
        "step": one.step,
        "reason": None if reason is None else {"ground": reason.ground.value, "text": reason.text},
    }


def _error(error: FileError) -> dict[str, object]:
    return {
        "filename": absolute(error.path),
        "message": error.message,
        "location": location(error.span.start) if error.span else None,
    }
