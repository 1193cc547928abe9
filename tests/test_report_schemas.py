"""Reports of real findings, judged by the schemas and tools of those who read them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import xmlschema

from tests.cli_runs import tclint

SCHEMAS = Path(__file__).parent / "schemas"
PROGRAM = """\
import torch


class Größe(torch.nn.Module):
    def forward(self, x: torch.Tensor, é=None):
        print("é", x.sum()); assert x.sum() > 0, f"{x}"
        for row in x:
            é = x.mean().item()
        return x * é  # tclint: ignore[TCL999]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Findings of every kind: fixable or not, in odd places, and files that cannot be read."""
    folder = tmp_path_factory.mktemp("project") / "a folder"
    folder.mkdir()
    (folder / "tclint.toml").write_text("weak = true\n", encoding="utf-8")
    (folder / "100% größe.py").write_text(PROGRAM, encoding="utf-8")
    (folder / "broken.py").write_text("def f(:\n", encoding="utf-8")
    (folder / "bytes.py").write_bytes(b"\xff")
    cell = {"cell_type": "code", "source": PROGRAM.splitlines(keepends=True)}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4}
    (folder / "notes.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    return folder


def report(project: Path, output_format: str) -> str:
    done = tclint("check", f"--output-format={output_format}", cwd=project)
    assert done.returncode == 2, done.stderr  # one of the files is no text
    return done.stdout


def schema(name: str) -> Any:
    return json.loads((SCHEMAS / name).read_text(encoding="utf-8"))


def test_sarif_is_what_oasis_specifies(project: Path) -> None:
    log = json.loads(report(project, "sarif"))
    validator = jsonschema.Draft7Validator(
        schema("sarif-2.1.0.json"), format_checker=jsonschema.FormatChecker()
    )
    assert [error.message for error in validator.iter_errors(log)] == []
    assert len(log["runs"][0]["results"]) > 8


@pytest.mark.slow
def test_sarif_is_what_microsoft_s_tool_wants(project: Path, tmp_path: Path) -> None:
    npm = shutil.which("npm")
    assert npm, "this test needs npm"
    install = [npm, "install", "--silent", "--prefix", str(tmp_path), "@microsoft/sarif-multitool"]
    subprocess.run(install, check=True, timeout=500)
    log = tmp_path / "tclint.sarif"
    log.write_text(report(project, "sarif"), encoding="utf-8")
    tool = tmp_path / "node_modules" / ".bin" / "sarif-multitool"
    command = [str(tool), "validate", str(log), "--level", "Error", "--kind", "Fail"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "error" not in done.stdout.lower(), done.stdout
    assert done.returncode == 0, done.stdout + done.stderr


def test_gitlab_gets_what_it_documents(project: Path) -> None:
    issues = json.loads(report(project, "gitlab"))
    jsonschema.validate(issues, schema("gitlab-code-quality.json"))
    prints = [issue["fingerprint"] for issue in issues]
    assert len(set(prints)) == len(prints)


def test_junit_is_what_jenkins_takes(project: Path) -> None:
    xmlschema.XMLSchema(SCHEMAS / "junit-10.xsd").validate(report(project, "junit"))


def test_github_commands_are_one_line_each(project: Path) -> None:
    lines = report(project, "github").splitlines()
    assert len(lines) > 8
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines)
    assert all("::" in line[2:] for line in lines)
