"""The first line of a finding: place, code, whether it is fixable, message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Applicability, Diagnostic, Effect
from tclint.printable import visible
from tclint.report.colour import BLUE, BOLD, CYAN, MAGENTA, RED, YELLOW, Paint, linked
from tclint.report.place import cell_place

if TYPE_CHECKING:
    from tclint.lint.engine import Result
    from tclint.report.view import View

_COLOURS: Final = {
    Effect.GRAPH_BREAK: RED,
    Effect.INVALID: RED,
    Effect.RECOMPILE: MAGENTA,
    Effect.HOST_SYNC: YELLOW,
    Effect.DEVICE_COPY: YELLOW,
    Effect.LAUNCH_OVERHEAD: BLUE,
    Effect.COLD_START: BLUE,
    Effect.NONE: CYAN,
}


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
    """The rule's code in the colour of what the finding costs; a terminal may open it."""
    text = Paint(view.colour)(diagnostic.code, _COLOURS[diagnostic.effect], BOLD)
    return linked(text, diagnostic.url) if view.links and diagnostic.url else text
