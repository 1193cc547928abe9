"""``json-lines``: the objects of ``json``, one a line, for streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.printable import json_text
from tclint.report.record import record

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """One JSON object a finding and line."""
    return "".join(json_text(record(result), indent=None) + "\n" for result in run.results)
