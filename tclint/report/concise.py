"""``concise``: one line a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.report.head import head

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """The head lines of all findings."""
    return "".join(head(result, view) + "\n" for result in run.results)
