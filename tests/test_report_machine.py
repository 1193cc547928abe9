"""What programs read: JSON, SARIF, GitHub, GitLab, JUnit and Reviewdog."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest  # noqa: TC002

from tclint.diagnostics import Confidence, Decline, Effect, Remedy
from tclint.lint.engine import Run
from tclint.report.formats import OutputFormat, render
from tclint.source.errors import FileError
from tests.report_samples import (
    DROP_ITEM,
    WHY,
    item,
    offer_edits,
    run_of,
    span,
    unfixed,
    view_of,
)

ROOT = Path("/my project")
PLAIN = (
    f"`.item()` breaks the graph\nInstead: Keep the tensor\nWhy: {WHY}\n"
    "Page: `tclint rule TCL101`, https://example.org/TCL101"
)
UNREADABLE = FileError(ROOT / "bad.py", "byte 0xff is not UTF-8", span(3, 1, 3, 1))


def load(output_format: OutputFormat, run: Run) -> Any:
    return json.loads(render(output_format, run, view_of(ROOT)))


def test_json_is_a_list_of_objects_with_stable_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    offer_edits(monkeypatch, DROP_ITEM)
    assert load(OutputFormat.JSON, run_of(item(ROOT))) == [
        {
            "code": "TCL101",
            "name": "item-in-compiled-region",
            "message": "`.item()` breaks the graph",
            "instead": "Keep the tensor",
            "why": WHY,
            "effect": "graph-break",
            "confidence": "high",
            "worth": "low",
            "filename": "/my project/model.py",
            "place": "code",
            "cell": None,
            "location": {"row": 7, "column": 17},
            "end_location": {"row": 7, "column": 32},
            "gb_ids": ["GB0124"],
            "chain": [
                {"function": "Net.forward", "filename": "/my project/model.py", "row": 5},
                {"function": "mean", "filename": "/my project/ops.py", "row": 12},
            ],
            "fix": {
                "applicability": "safe",
                "change": "same-bits",
                "message": "Keep the tensor",
                "edits": [
                    {
                        "content": "",
                        "location": {"row": 7, "column": 25},
                        "end_location": {"row": 7, "column": 32},
                    }
                ],
            },
            "declined": None,
            "url": "https://example.org/TCL101",
            "settings": [],
        }
    ]


def test_json_of_a_clean_run_is_an_empty_list() -> None:
    assert render(OutputFormat.JSON, run_of(), view_of(ROOT)) == "[]\n"


def test_json_gives_the_reason_of_a_decline() -> None:
    [found] = load(OutputFormat.JSON, run_of(unfixed(ROOT, declined=Decline("it is returned"))))
    assert found["fix"] is None
    assert found["declined"] == "it is returned"


def test_a_fix_that_meets_an_obstacle_is_a_decline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tclint.fix.edits.edits_for", lambda *_: Decline("a comment is in the way"))
    [found] = load(OutputFormat.JSON, run_of(item(ROOT)))
    assert (found["fix"], found["declined"]) == (None, "a comment is in the way")


def test_sarif_names_rules_places_fixes_and_the_way_there(monkeypatch: pytest.MonkeyPatch) -> None:
    offer_edits(monkeypatch, DROP_ITEM)
    other = unfixed(ROOT, code="TCL001", effect=Effect.INVALID)
    log = load(OutputFormat.SARIF, run_of(item(ROOT), other, errors=[UNREADABLE]))
    assert log["version"] == "2.1.0"
    [run] = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["originalUriBaseIds"] == {"%SRCROOT%": {"uri": "file:///my%20project/"}}
    assert run["tool"]["driver"]["name"] == "tclint"
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["TCL001", "TCL101"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    first = run["results"][0]
    assert first["level"] == "error"
    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "model.py", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 7, "startColumn": 17, "endLine": 7, "endColumn": 32},
    }
    assert [place["message"]["text"] for place in first["relatedLocations"]] == [
        "Net.forward",
        "mean",
    ]
    assert first["fixes"][0]["artifactChanges"][0]["replacements"] == [
        {
            "deletedRegion": {"startLine": 7, "startColumn": 25, "endLine": 7, "endColumn": 32},
            "insertedContent": {"text": ""},
        }
    ]
    [problem] = run["invocations"][0]["toolExecutionNotifications"]
    assert problem["message"]["text"] == "byte 0xff is not UTF-8"


def test_sarif_escapes_odd_file_names() -> None:
    outside = unfixed(Path("/other folder"))
    odd = unfixed(ROOT / "100% é")
    results = load(OutputFormat.SARIF, run_of(outside, odd))["runs"][0]["results"]
    places = [r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in results]
    assert places == ["file:///other%20folder/model.py", "100%25%20%C3%A9/model.py"]


def test_sarif_escapes_the_bytes_of_names_that_are_no_text() -> None:
    results = load(OutputFormat.SARIF, run_of(unfixed(ROOT / "caf\udce9")))["runs"][0]["results"]
    place = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "caf%E9/model.py"


def test_fingerprints_stay_when_lines_move_and_differ_between_equal_lines() -> None:
    moved = unfixed(ROOT, source="\n" + unfixed(ROOT).file.text, span=span(8, 17, 8, 32))
    before = load(OutputFormat.GITLAB, run_of(unfixed(ROOT)))
    after = load(OutputFormat.GITLAB, run_of(moved, moved))
    assert before[0]["fingerprint"] == after[0]["fingerprint"]
    assert after[0]["fingerprint"] != after[1]["fingerprint"]


def test_github_escapes_what_its_commands_give_a_meaning() -> None:
    result = unfixed(Path("/a,b:c"), message="100% of\nthe time", chain=())
    assert render(OutputFormat.GITHUB, run_of(result), view_of(ROOT)) == (
        "::error title=tclint (TCL101),file=/a%2Cb%3Ac/model.py,line=7,endLine=7,col=17,"
        "endColumn=32::/a,b:c/model.py:7:17: TCL101 100%25 of%0Athe time"
        "%0A  effect: graph break (GB0124)%0A  instead: Keep the tensor"
        f"%0A  why: {WHY}%0A  page: `tclint rule TCL101`, https://example.org/TCL101\n"
    )


def test_github_knows_three_levels_and_unreadable_files() -> None:
    results = [
        unfixed(ROOT, effect=Effect.HOST_SYNC),
        unfixed(ROOT, confidence=Confidence.LOW, span=span(6, 9, 7, 3)),
    ]
    shown = render(OutputFormat.GITHUB, run_of(*results, errors=[UNREADABLE]), view_of(ROOT))
    warning, notice, error = shown.splitlines()
    assert warning.startswith("::warning title=")
    assert notice.startswith("::notice ")
    assert "line=6,endLine=7::" in notice, "columns are left out where lines differ"
    assert error == "::error title=tclint,file=/my project/bad.py::byte 0xff is not UTF-8"


def test_settings_are_said_once_for_all_findings() -> None:
    remedy = Remedy("Turn on `a`", "it leaks", ("a = True",))
    found = unfixed(ROOT, remedies=(remedy,))
    run, said = run_of(found, found), "removes 2 findings; it leaks."
    told = f"`a = True` before you call what you compile {said}"
    assert render(OutputFormat.GITHUB, run, view_of(ROOT)).endswith(
        f"\n::notice title=tclint::{told}\n"
    )
    [log] = load(OutputFormat.SARIF, run)["runs"]
    assert log["invocations"][0]["properties"]["settings"] == [told]
    lines = [one["settings"][0]["lines"] for one in load(OutputFormat.JSON, run)]
    assert lines == [["a = True"]] * 2


def test_gitlab_reports_relative_paths_and_severities() -> None:
    [issue] = load(OutputFormat.GITLAB, run_of(unfixed(ROOT)))
    assert issue.pop("fingerprint")
    assert issue == {
        "check_name": "TCL101",
        "description": f"TCL101: {PLAIN}",
        "severity": "major",
        "location": {
            "path": "model.py",
            "positions": {"begin": {"line": 7, "column": 17}, "end": {"line": 7, "column": 32}},
        },
    }


def test_junit_counts_failures_by_file() -> None:
    run = run_of(unfixed(ROOT), unfixed(ROOT / "b"), errors=[UNREADABLE])
    root = ET.fromstring(render(OutputFormat.JUNIT, run, view_of(ROOT)))
    assert root.attrib == {"name": "tclint", "tests": "3", "failures": "2", "errors": "1"}
    assert [suite.get("name") for suite in root] == ["model.py", "b/model.py", "bad.py"]
    assert root.find("testsuite/testcase/failure").text == (  # type: ignore[union-attr]
        "model.py:7:17: `.item()` breaks the graph\n"
        "effect: graph break (GB0124)\n"
        "reached: Net.forward → mean (ops.py:12)\n"
        "instead: Keep the tensor\n"
        f"why: {WHY}\n"
        "page: `tclint rule TCL101`, https://example.org/TCL101"
    )


def test_junit_of_a_clean_run_is_one_passed_test() -> None:
    root = ET.fromstring(render(OutputFormat.JUNIT, run_of(), view_of(ROOT)))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_leaves_out_characters_that_xml_cannot_hold() -> None:
    run = run_of(unfixed(ROOT, message="a\x00\x1b<&"))
    root = ET.fromstring(render(OutputFormat.JUNIT, run, view_of(ROOT)))
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "a␀␛<&"
