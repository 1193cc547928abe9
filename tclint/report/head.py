"""The first line of a finding: place, code, whether it is fixable, message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Diagnostic
from tclint.printable import visible
from tclint.report.colour import BOLD, CYAN, RED, Paint, linked
from tclint.report.place import cell_place

if TYPE_CHECKING:
    from tclint.lint.engine import Result
    from tclint.report.view import View


def head(result: Result, view: View) -> str:
    """``model.py:3:9: TCL101 [*] message``; ``[*]`` says that ``tclint fix`` repairs it."""
    diagnostic, paint = result.diagnostic, Paint(view.colour)
    cell, start = cell_place(result, diagnostic.span.start)
    path, colon = paint(visible(view.path(diagnostic.path)), BOLD), paint(":", CYAN)
    where = f"{colon}cell {cell}" if cell else ""
    place = f"{path}{where}{colon}{start.row}{colon}{start.column}{colon}"
    message = visible(diagnostic.message)
    return f"{place} {code(diagnostic, view)}{star(diagnostic, view)} {message}"


def star(diagnostic: Diagnostic, view: View) -> str:
    """The mark of findings that ``tclint fix`` repairs."""
    return f" [{Paint(view.colour)('*', CYAN)}]" if diagnostic.fixable is Applicability.SAFE else ""


def code(diagnostic: Diagnostic, view: View) -> str:
    """The rule's code, which a terminal may open."""
    text = Paint(view.colour)(diagnostic.code, RED, BOLD)
    return linked(text, diagnostic.url) if view.links and diagnostic.url else text
