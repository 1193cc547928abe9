"""``rdjson``: the Reviewdog Diagnostic Format; columns count UTF-8 bytes from 1, ends are open."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tclint.diagnostics import Fix, Position, Span
from tclint.lint.links import on_web
from tclint.printable import json_text
from tclint.report.place import file_span, with_cell
from tclint.report.project import NAME, homepage
from tclint.report.repairs import fix_of
from tclint.report.severity import level
from tclint.report.told import plain

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View
    from tclint.source.file import SourceFile

_SEVERITIES = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(run: Run, view: View) -> str:
    """The findings as one DiagnosticResult."""
    source = {"name": NAME}
    address = homepage()
    if address:
        source["url"] = address
    report = {
        "source": source,
        "severity": "WARNING",
        "diagnostics": [_diagnostic(result, view) for result in run.results],
    }
    return json_text(report) + "\n"


def _diagnostic(result: Result, view: View) -> dict[str, object]:
    diagnostic = result.diagnostic
    code = {"value": diagnostic.code}
    if (url := on_web(diagnostic.url)) is not None:
        code["url"] = url
    found: dict[str, object] = {
        "message": with_cell(result, plain(result)),
        "location": {
            "path": view.posix(diagnostic.path),
            "range": _range(result.file, file_span(result)),
        },
        "severity": _SEVERITIES[level(diagnostic)],
        "code": code,
    }
    fix = fix_of(result)
    if isinstance(fix, Fix) and fix.edits and file_span(result) is diagnostic.span:
        span, text = merged(result.file, fix)
        found["suggestions"] = [{"range": _range(result.file, span), "text": text}]
    return found


def merged(file: SourceFile, fix: Fix) -> tuple[Span, str]:
    """All edits as one: reviewers accept suggestions one by one, but a fix is all or nothing."""
    edits = sorted(fix.edits)
    text = edits[0].content
    for before, after in pairwise(edits):
        text += file.excerpt(Span(before.span.end, after.span.start)) + after.content
    return Span(edits[0].span.start, max(edit.span.end for edit in edits)), text


def _range(file: SourceFile, span: Span) -> dict[str, object]:
    return {"start": _place(file, span.start), "end": _place(file, span.end)}


def _place(file: SourceFile, position: Position) -> dict[str, int]:
    before = file.line(position.row)[: position.column - 1].encode("utf-8", "surrogatepass")
    return {"line": position.row, "column": len(before) + 1}
