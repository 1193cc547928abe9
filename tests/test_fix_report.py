"""What `tclint fix` tells programs, and that it is true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tclint.diagnostics import Edit, Position, Span
from tclint.fix.conflicts import apply_edits
from tclint.source.decode import decode
from tests.test_cli_check import project, put, tclint
from tests.test_cli_fix import FIXABLE, FIXED

__all__ = ["project"]

MANY = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = x.max().item(), x.min().item()
        print("largest", a)
        y = torch.zeros(3).to(x.device) + torch.ones(
            3,
        ).to(x.device)
        return x / a + y / b
"""

DECLINED = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> list[int]:
        return [0] * x.sum().int().item()
"""


def _report(*arguments: str, cwd: Path) -> dict[str, Any]:
    done = tclint("fix", "--output-format", "json", *arguments, cwd=cwd)
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def _rebuilt(path: Path, before: bytes, report: dict[str, Any]) -> bytes:
    """The bytes that the report's edits make."""
    edits = set()
    for fix in report["fixes"]:
        assert fix["filename"] == str(path)
        for edit in fix["fix"]["edits"]:
            start, end = Position(**edit["location"]), Position(**edit["end_location"])
            edits.add(Edit(Span(start, end), edit["content"]))
    file = decode(path, before)
    return apply_edits(file, edits).encode(file.encoding)


def test_every_edit_is_told_at_its_place_in_the_unfixed_file(project: Path) -> None:
    path = project / "model.py"
    put(project, path.name, MANY)
    report = _report(cwd=project)
    assert _rebuilt(path, MANY.encode(), report) == path.read_bytes() != MANY.encode()
    assert {fix["status"] for fix in report["fixes"]} == {"applied"}
    assert all(fix["reason"] is None for fix in report["fixes"])
    assert report["verification"] is None
    first = report["fixes"][0]
    assert first["fix"]["applicability"] == "safe"
    assert first["location"]["row"] <= first["end_location"]["row"]
    assert _report(cwd=project)["fixes"] == []


@pytest.mark.parametrize(
    ("head", "encoding", "newline"),
    [
        ("", "utf-8-sig", "\n"),
        ("# coding: latin-1\n# é\n", "latin-1", "\r\n"),
        ("\x0c\n", "utf-8", "\n"),
        ("# é \u2028 tab:\t\n", "utf-8", "\r\n"),
    ],
)
@pytest.mark.parametrize("indent", ["    ", "\t"])
def test_bytes_outside_of_edits_stay_in_any_spelling(
    project: Path, head: str, encoding: str, newline: str, indent: str
) -> None:
    text = (head + MANY.replace("    ", indent)).replace("\n", newline)
    path = project / "model.py"
    before = text.encode(encoding)
    path.write_bytes(before)
    report = _report("--unsafe-fixes", cwd=project)
    assert report["errors"] == []
    after = path.read_bytes()
    assert len(report["fixes"]) > 1
    assert _rebuilt(path, before, report) == after
    fixed = after.decode(encoding)
    assert fixed.count("\n") == fixed.count(newline)


def test_line_ends_of_old_macs_are_left_alone(project: Path) -> None:
    before = MANY.replace("\n", "\r").encode()
    put(project, "model.py", before)
    report = _report(cwd=project)
    assert report["fixes"] == []
    assert (project / "model.py").read_bytes() == before


def test_diff_as_json_offers_and_writes_nothing(project: Path) -> None:
    put(project, "model.py", FIXABLE)
    done = tclint("fix", "--diff", "--output-format=json", cwd=project)
    assert done.returncode == 1
    (fix,) = json.loads(done.stdout)["fixes"]
    assert (fix["status"], fix["code"]) == ("offered", "TCL101")
    assert (project / "model.py").read_text() == FIXABLE


def test_standard_input_as_json_offers_edits(project: Path) -> None:
    done = tclint("fix", "-", "--output-format=json", cwd=project, stdin=FIXABLE.encode())
    (fix,) = json.loads(done.stdout)["fixes"]
    assert fix["status"] == "offered"
    assert fix["fix"]["edits"][0]["content"] == "detach"


def test_what_remains_is_told_with_the_reason(project: Path) -> None:
    put(project, "model.py", DECLINED)
    report = _report(cwd=project)
    assert report["fixes"] == []
    assert [finding["code"] for finding in report["findings"]] == ["TCL101"]
    assert report["findings"][0]["declined"]


def test_what_to_do_instead_of_a_declined_fix_is_told(project: Path) -> None:
    put(project, "model.py", DECLINED)
    told = tclint("fix", cwd=project).stdout
    assert "= instead: " in told
    assert "(no fix: " in told


def test_what_is_no_notebook_stops_no_other_fix(project: Path) -> None:
    put(project, "model.ipynb", "{")
    put(project, "net.py", FIXABLE)
    done = tclint("fix", "model.ipynb", cwd=project)
    assert done.returncode == 2
    assert "model.ipynb:1:2: not a notebook" in done.stderr
    assert (project / "model.ipynb").read_text() == "{"
    both = tclint("fix", "model.ipynb", "net.py", cwd=project)
    assert both.returncode == 2
    assert (project / "net.py").read_text() == FIXED
