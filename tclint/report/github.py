"""``github``: workflow commands that GitHub Actions turns into annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.report.full import circumstances
from tclint.report.place import file_span, place_text
from tclint.report.project import NAME
from tclint.report.settings import settings_lines
from tclint.report.severity import level
from tclint.report.told import told
from tclint.report.view import absolute
from tclint.report.workflow import command

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(run: Run, view: View) -> str:
    """One command a finding, and one for settings; files that could not be read are errors too."""
    lines = [_command(result, view) for result in run.results]
    lines += [command("notice", {"title": NAME}, line) for line in settings_lines(run, view)]
    lines += [
        command("error", {"title": NAME, "file": absolute(e.path)}, e.message) for e in run.errors
    ]
    return "".join(line + "\n" for line in lines)


def _command(result: Result, view: View) -> str:
    diagnostic, span = result.diagnostic, file_span(result)
    start, end = span.start, span.end
    properties = {
        "title": f"{NAME} ({diagnostic.code})",
        "file": absolute(diagnostic.path),
        "line": str(start.row),
        "endLine": str(end.row),
    }
    if start.row == end.row:
        # Annotations that span lines must not name columns.
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    return command(_COMMANDS[level(diagnostic)], properties, _message(result, view))


def _message(result: Result, view: View) -> str:
    diagnostic = result.diagnostic
    lines = [f"{place_text(result, view)}: {diagnostic.code} {diagnostic.message}"]
    below = (*circumstances(result, view), *told(result).below)
    lines += [f"  {label}: {text}" for label, text in below]
    return "\n".join(lines)
