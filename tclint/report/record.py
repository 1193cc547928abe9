"""A finding as a JSON object; its keys are stable."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import Decline, Diagnostic, Fix, Position
from tclint.report.place import cell_place
from tclint.report.repairs import fix_of
from tclint.report.view import absolute

if TYPE_CHECKING:
    from tclint.lint.engine import Result


def record(result: Result) -> dict[str, object]:
    """The object that ``--output-format json`` prints for one finding."""
    diagnostic = result.diagnostic
    fix = fix_of(result)
    cell, start = cell_place(result, diagnostic.span.start)
    _, end = cell_place(result, diagnostic.span.end)
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "message": diagnostic.message,
        "effect": diagnostic.effect.value,
        "confidence": diagnostic.confidence.value,
        "filename": absolute(diagnostic.path),
        "place": result.place,
        "cell": cell,
        "location": location(start),
        "end_location": location(end),
        "gb_ids": list(diagnostic.gb_ids),
        "chain": _chain(diagnostic),
        "fix": fix_record(fix) if isinstance(fix, Fix) else None,
        "declined": fix.reason if isinstance(fix, Decline) else None,
        "url": diagnostic.url,
    }


def location(position: Position) -> dict[str, int]:
    """A place in a file, both numbers 1-based."""
    return {"row": position.row, "column": position.column}


def _chain(diagnostic: Diagnostic) -> list[dict[str, object]]:
    return [
        {"function": link.function, "filename": absolute(Path(link.filename)), "row": link.row}
        for link in diagnostic.chain
    ]


def fix_record(fix: Fix) -> dict[str, object]:
    """A fix with its edits."""
    return {
        "applicability": fix.applicability.value,
        "message": fix.message,
        "edits": [
            {
                "content": edit.content,
                "location": location(edit.span.start),
                "end_location": location(edit.span.end),
            }
            for edit in fix.edits
        ],
    }
