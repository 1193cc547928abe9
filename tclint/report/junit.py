"""``junit``: findings as failed test cases, for CI servers that show test reports."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tclint.report.full import circumstances
from tclint.report.place import place_text
from tclint.report.project import NAME
from tclint.report.told import told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tclint.lint.engine import Result, Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """A test suite a file; a clean run is one passed test."""
    root = ET.Element("testsuites", name=NAME)
    for path, results in groupby(run.results, key=lambda result: result.diagnostic.path):
        _failures(root, view.posix(path), results, view)
    for error in run.errors:
        case = _case(root, view.posix(error.path), "readable")
        ET.SubElement(case, "error", message=error.message)
    if not run.results and not run.errors:
        _case(root, NAME, "no findings")
    for suite in root:
        _totals(suite, suite)
    _totals(root, root)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=False).join(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "\n")
    )


def _failures(root: ET.Element, path: str, results: Iterable[Result], view: View) -> None:
    suite = ET.SubElement(root, "testsuite", name=path)
    for result in results:
        diagnostic = result.diagnostic
        name = f"{diagnostic.code} {diagnostic.name}"
        # No attributes for file and line: readers that hold to the schema refuse the report.
        case = ET.SubElement(suite, "testcase", name=name, classname=path)
        failure = ET.SubElement(
            case, "failure", message=diagnostic.message, type=diagnostic.effect.value
        )
        below = (*circumstances(result, view), *told(result).below)
        lines = [f"{place_text(result, view)}: {diagnostic.message}"]
        failure.text = "\n".join([*lines, *(f"{label}: {text}" for label, text in below)])


def _case(root: ET.Element, path: str, name: str) -> ET.Element:
    suite = ET.SubElement(root, "testsuite", name=path)
    return ET.SubElement(suite, "testcase", name=name, classname=path)


def _totals(element: ET.Element, scope: ET.Element) -> None:
    element.set("tests", str(len(list(scope.iter("testcase")))))
    element.set("failures", str(len(list(scope.iter("failure")))))
    element.set("errors", str(len(list(scope.iter("error")))))
