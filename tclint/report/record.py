"""A finding as a JSON object; its keys are stable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Decline, Diagnostic, Fix, Position
from tclint.report.repairs import fix_of
from tclint.report.view import absolute

if TYPE_CHECKING:
    from tclint.lint.engine import Result


def record(result: Result) -> dict[str, object]:
    """The object that ``--output-format json`` prints for one finding."""
    diagnostic = result.diagnostic
    fix = fix_of(result)
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "message": diagnostic.message,
        "effect": diagnostic.effect.value,
        "confidence": diagnostic.confidence.value,
        "filename": absolute(diagnostic.path),
        "location": _location(diagnostic.span.start),
        "end_location": _location(diagnostic.span.end),
        "gb_ids": list(diagnostic.gb_ids),
        "chain": _chain(diagnostic),
        "fix": _fix(fix) if isinstance(fix, Fix) else None,
        "declined": fix.reason if isinstance(fix, Decline) else None,
        "url": diagnostic.url,
    }


def _location(position: Position) -> dict[str, int]:
    return {"row": position.row, "column": position.column}


def _chain(diagnostic: Diagnostic) -> list[dict[str, object]]:
    return [
        {"function": link.function, "filename": link.filename, "row": link.row}
        for link in diagnostic.chain
    ]


def _fix(fix: Fix) -> dict[str, object]:
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [
            {
                "content": edit.content,
                "location": _location(edit.span.start),
                "end_location": _location(edit.span.end),
            }
            for edit in fix.edits
        ],
    }
