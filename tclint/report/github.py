"""``github``: workflow commands that GitHub Actions turns into annotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tclint.report.place import file_span, place_text
from tclint.report.severity import level
from tclint.report.view import absolute, chain_text, effect_text

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def render(run: Run, view: View) -> str:
    """One command a finding; files that could not be read are errors too."""
    lines = [_command(result, view) for result in run.results]
    lines += [
        f"::error title=tclint,file={_property(absolute(e.path))}::{_data(e.message)}"
        for e in run.errors
    ]
    return "".join(line + "\n" for line in lines)


def _command(result: Result, view: View) -> str:
    diagnostic, span = result.diagnostic, file_span(result)
    start, end = span.start, span.end
    properties = {
        "title": f"tclint ({diagnostic.code})",
        "file": absolute(diagnostic.path),
        "line": str(start.row),
        "endLine": str(end.row),
    }
    if start.row == end.row:
        # Annotations that span lines must not name columns.
        properties |= {"col": str(start.column), "endColumn": str(end.column)}
    joined = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[level(diagnostic)]} {joined}::{_data(_message(result, view))}"


def _message(result: Result, view: View) -> str:
    diagnostic = result.diagnostic
    lines = [f"{place_text(result, view)}: {diagnostic.code} {diagnostic.message}"]
    lines.append(f"  effect: {effect_text(diagnostic)}")
    if diagnostic.chain:
        lines.append(f"  reached: {chain_text(diagnostic, view)}")
    if diagnostic.fixable is not None and diagnostic.fix_message:
        lines.append(f"  fix: {diagnostic.fix_message}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
