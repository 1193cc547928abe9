"""``json-lines``: the objects of ``json``, one a line, for streams."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tclint.report.record import record

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """One JSON object a finding and line."""
    return "".join(json.dumps(record(result)) + "\n" for result in run.results)
