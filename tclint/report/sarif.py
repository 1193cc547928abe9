"""``sarif``: SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tclint import __version__
from tclint.diagnostics import Fix, Span
from tclint.lint.links import on_web
from tclint.lint.pages import page_of
from tclint.printable import json_text
from tclint.report.fingerprint import fingerprints
from tclint.report.looked import figures
from tclint.report.place import file_span, with_cell
from tclint.report.project import NAME, homepage
from tclint.report.repairs import fix_of
from tclint.report.settings import settings_lines
from tclint.report.severity import level
from tclint.report.told import plain

if TYPE_CHECKING:
    from tclint.diagnostics import ChainLink, Diagnostic
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
Object = dict[str, object]


def render(run: Run, view: View) -> str:
    """The whole log with one run."""
    rules = _rules(run, view)
    indices = {str(rule["id"]): index for index, rule in enumerate(rules)}
    results = [
        _result(result, fingerprint, indices, view)
        for result, fingerprint in zip(run.results, fingerprints(run, view), strict=True)
    ]
    driver: Object = {
        "name": NAME,
        "version": __version__,
        "semanticVersion": __version__,
        "rules": rules,
    }
    address = homepage()
    if address:
        driver["informationUri"] = address
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"%SRCROOT%": {"uri": view.base.as_uri().rstrip("/") + "/"}},
                "invocations": [_invocation(run, view)],
                "results": results,
            }
        ],
    }
    return json_text(log) + "\n"


def _rules(run: Run, view: View) -> list[Object]:
    """The rules that fired, described by their classes, or by a finding where there is none."""
    known = {rule.code: rule for rule in view.rules}
    fired: dict[str, Diagnostic] = {}
    for result in run.results:
        fired.setdefault(result.diagnostic.code, result.diagnostic)
    described: list[Object] = []
    for code, diagnostic in sorted(fired.items()):
        rule = known.get(code)
        summary = rule.summary if rule else diagnostic.message
        docs = (page_of(rule).text if rule else "") or summary
        item: Object = {
            "id": code,
            "name": diagnostic.name,
            "shortDescription": {"text": summary},
            "fullDescription": {"text": " ".join(docs.split("\n\n")[0].split())},
            "help": {"text": docs, "markdown": docs},
            "defaultConfiguration": {"level": level(diagnostic)},
            "properties": {"tags": [diagnostic.effect.value, *diagnostic.gb_ids]},
        }
        if (url := on_web(diagnostic.url)) is not None:
            item["helpUri"] = url
        described.append(item)
    return described


def _result(result: Result, fingerprint: str, indices: dict[str, int], view: View) -> Object:
    diagnostic = result.diagnostic
    found: Object = {
        "ruleId": diagnostic.code,
        "ruleIndex": indices[diagnostic.code],
        "level": level(diagnostic),
        "message": {"text": with_cell(result, plain(result))},
        "locations": [_location(diagnostic.path, view, _region(file_span(result)))],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint},
        "properties": {
            "effect": diagnostic.effect.value,
            "confidence": diagnostic.confidence.value,
            "worth": diagnostic.worth.value,
            "gb_ids": list(diagnostic.gb_ids),
            "instead": diagnostic.instead,
        },
    }
    if diagnostic.chain:
        found["relatedLocations"] = [
            _link(number, link, view) for number, link in enumerate(diagnostic.chain)
        ]
    fix = fix_of(result)
    if isinstance(fix, Fix) and file_span(result) is diagnostic.span:
        found["fixes"] = [_fix(fix, diagnostic.path, view)]
    return found


def _link(number: int, link: ChainLink, view: View) -> Object:
    location = _location(Path(link.filename), view, {"startLine": link.row})
    return {"id": number, "message": {"text": link.function}, **location}


def _fix(fix: Fix, path: Path, view: View) -> Object:
    replacements = [
        {"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.content}}
        for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(path, view), "replacements": replacements}
    return {"description": {"text": fix.message}, "artifactChanges": [change]}


def _invocation(run: Run, view: View) -> Object:
    looked: Object = {**figures(run)}
    properties: Object = {"lookedAt": looked}
    if settings := [*settings_lines(run, view)]:
        properties["settings"] = settings
    invocation: Object = {"executionSuccessful": True, "properties": properties}
    if run.errors:
        invocation["toolExecutionNotifications"] = [
            {
                "level": "error",
                "message": {"text": error.message},
                "locations": [_location(error.path, view, _region(error.span))],
            }
            for error in run.errors
        ]
    return invocation


def _location(path: Path, view: View, region: Object | None) -> Object:
    place: Object = {"artifactLocation": _artifact(path, view)}
    if region is not None:
        place["region"] = region
    return {"physicalLocation": place}


def _artifact(path: Path, view: View) -> Object:
    text = view.posix(path)
    if path.is_absolute() and Path(text).is_absolute():
        return {"uri": path.as_uri()}
    return {"uri": quote(os.fsencode(text)), "uriBaseId": "%SRCROOT%"}


def _region(span: Span | None) -> Object | None:
    if span is None:
        return None
    return {
        "startLine": span.start.row,
        "startColumn": span.start.column,
        "endLine": span.end.row,
        "endColumn": span.end.column,
    }
