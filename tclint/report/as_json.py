"""``json``: one list of objects."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tclint.report.record import record

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """The findings as a JSON list."""
    return json.dumps([record(result) for result in run.results], indent=2) + "\n"
