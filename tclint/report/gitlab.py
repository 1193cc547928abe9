"""``gitlab``: a Code Quality report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.printable import json_text
from tclint.report.fingerprint import fingerprints
from tclint.report.place import file_span, with_cell
from tclint.report.severity import level
from tclint.report.told import plain

if TYPE_CHECKING:
    from tclint.diagnostics import Position
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(run: Run, view: View) -> str:
    """The findings as a JSON list of issues."""
    issues = [
        _issue(result, fingerprint, view)
        for result, fingerprint in zip(run.results, fingerprints(run, view), strict=True)
    ]
    return json_text(issues) + "\n"


def _issue(result: Result, fingerprint: str, view: View) -> dict[str, object]:
    diagnostic, span = result.diagnostic, file_span(result)
    return {
        "check_name": diagnostic.code,
        "description": f"{diagnostic.code}: {with_cell(result, plain(result))}",
        "severity": _SEVERITIES[level(diagnostic)],
        "fingerprint": fingerprint,
        "location": {
            "path": view.posix(diagnostic.path),
            "positions": {"begin": _place(span.start), "end": _place(span.end)},
        },
    }


def _place(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}
