"""``json``: one list of objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.printable import json_text
from tclint.report.record import record

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """The findings as a JSON list."""
    return json_text([record(result) for result in run.results]) + "\n"
