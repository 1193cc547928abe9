"""The first line of a finding: place, code, whether it is fixable, message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Diagnostic
from tclint.report.colour import BOLD, CYAN, RED, Paint

if TYPE_CHECKING:
    from tclint.report.view import View


def head(diagnostic: Diagnostic, view: View) -> str:
    """``model.py:3:9: TCL101 [*] message``; ``[*]`` says that ``tclint fix`` repairs it."""
    paint = Paint(view.colour)
    start = diagnostic.span.start
    path, colon = paint(view.path(diagnostic.path), BOLD), paint(":", CYAN)
    place = f"{path}{colon}{start.row}{colon}{start.column}{colon}"
    star = f" [{paint('*', CYAN)}]" if diagnostic.fixable is Applicability.SAFE else ""
    return f"{place} {paint(diagnostic.code, RED, BOLD)}{star} {diagnostic.message}"
