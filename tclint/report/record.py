"""A finding as a JSON object; its keys are stable."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.diagnostics import Decline, Diagnostic, Edit, Fix, Position
from tclint.report.place import cell_place
from tclint.report.repairs import fix_of
from tclint.report.told import why
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
        "instead": diagnostic.instead,
        "why": why(diagnostic.code),
        "effect": diagnostic.effect.value,
        "confidence": diagnostic.confidence.value,
        "worth": diagnostic.worth.value,
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
        "settings": [*_settings(result)],
    }


def _settings(result: Result) -> Iterator[dict[str, object]]:
    """The settings that remove a finding, and where the project compiles the code."""
    for remedy in result.diagnostic.remedies:
        places = [
            {"filename": absolute(Path(place.filename)), "row": place.row}
            for place in remedy.places
        ]
        yield {"lines": list(remedy.lines), "changes": remedy.changes, "places": places}


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
        "change": fix.change.value,
        "message": fix.message,
        "edits": [*map(_edit, fix.edits)],
    }


def _edit(edit: Edit) -> dict[str, object]:
    return {
        "content": edit.content,
        "location": location(edit.span.start),
        "end_location": location(edit.span.end),
    }
