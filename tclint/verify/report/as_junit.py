"""Targets as test cases, for CI servers that show test reports."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from tclint.printable import printable
from tclint.report.project import NAME
from tclint.verify.complaints import complaints
from tclint.verify.report.details import details
from tclint.verify.results import TargetReport


def render(reports: Sequence[TargetReport], base: Path) -> str:
    """One suite; each target is a case that passes, fails or could not run."""
    root = ET.Element("testsuites", name=NAME)
    suite = ET.SubElement(root, "testsuite", name=f"{NAME} verify")
    for report in reports:
        _case(suite, report, base)
    for element in (suite, root):
        element.set("tests", str(len(list(root.iter("testcase")))))
        element.set("failures", str(len(list(root.iter("failure")))))
        element.set("errors", str(len(list(root.iter("error")))))
    ET.indent(root)
    text = printable(ET.tostring(root, encoding="unicode"))  # XML cannot hold the rest
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _case(suite: ET.Element, report: TargetReport, base: Path) -> None:
    case = ET.SubElement(suite, "testcase", name=report.target, classname=f"{NAME}.verify")
    speed = report.after.speed
    if speed is not None:
        case.set("time", f"{speed.cold_start:.3f}")
    text = "\n".join(details(report, base))
    failures = [arm.failure for arm in report.arms if arm.failure is not None]
    for failure in failures[:1]:
        ET.SubElement(case, "error", message=failure.message, type=failure.kind).text = text
    reasons = complaints(report)
    if reasons and not failures:
        ET.SubElement(case, "failure", message="; ".join(reasons)).text = text
    if not reasons and not failures:
        ET.SubElement(case, "system-out").text = text
