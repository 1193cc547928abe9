"""``gitlab``: a Code Quality report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tclint.report.fingerprint import fingerprints
from tclint.report.severity import level

if TYPE_CHECKING:
    from tclint.diagnostics import Diagnostic, Position
    from tclint.lint.engine import Run
    from tclint.report.view import View

_SEVERITIES = {"error": "major", "warning": "minor", "note": "info"}


def render(run: Run, view: View) -> str:
    """The findings as a JSON list of issues."""
    issues = [
        _issue(result.diagnostic, fingerprint, view)
        for result, fingerprint in zip(run.results, fingerprints(run, view), strict=True)
    ]
    return json.dumps(issues, indent=2) + "\n"


def _issue(diagnostic: Diagnostic, fingerprint: str, view: View) -> dict[str, object]:
    span = diagnostic.span
    return {
        "check_name": diagnostic.code,
        "description": f"{diagnostic.code}: {diagnostic.message}",
        "severity": _SEVERITIES[level(diagnostic)],
        "fingerprint": fingerprint,
        "location": {
            "path": view.posix(diagnostic.path),
            "positions": {"begin": _place(span.start), "end": _place(span.end)},
        },
    }


def _place(position: Position) -> dict[str, int]:
    return {"line": position.row, "column": position.column}
