"""``check`` and ``fix`` speak of the same findings: what the one hides the other does not touch."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.cli_runs import git, tclint

MODEL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        print("first", x)
        print("second", x)
        y = x * 2
        print("silenced", y)  # tclint: ignore[TCL120] -- wanted
        if self.training:
            labels = torch.arange(y.size(0)).long().to(y.device)
            y = y + labels
        if y.sum() > 0:
            print("positive")
            print("indeed")
        scale = y.max().item()
        return y / scale


def unsure(flag, y: torch.Tensor):
    if flag and y.requires_grad and not torch.is_inference_mode_enabled():
        mask = torch.eye(y.size(0)).bool().to(y.device)
        y = y.masked_fill(mask, 0.0)
    return y


class Head(torch.nn.Module):
    def forward(self, x: torch.Tensor, cls: bool = False) -> torch.Tensor:
        if cls:
            mask = torch.eye(x.size(0)).bool().to(x.device)
            x = x.masked_fill(mask, 0.0)
        return x
"""

Place = tuple[str, str, int, int]


def _place(record: Any) -> Place:
    place = record["location"]
    return Path(record["filename"]).name, record["code"], place["row"], place["column"]


def offered(folder: Path, *arguments: str, unsafe: bool = False) -> Counter[Place]:
    """The findings that a check says are fixable."""
    done = tclint("check", "--output-format", "json", *arguments, cwd=folder)
    levels = {"safe", "unsafe"} if unsafe else {"safe"}
    found = json.loads(done.stdout)
    return Counter(_place(f) for f in found if f["fix"] and f["fix"]["applicability"] in levels)


def applied(folder: Path, *arguments: str, unsafe: bool = False) -> Counter[Place]:
    """The findings that fixing fixes, apart from those that it brings up."""
    extra = ("--unsafe-fixes",) if unsafe else ()
    done = tclint("fix", "--diff", "--output-format", "json", *extra, *arguments, cwd=folder)
    return Counter(_place(fix) for fix in json.loads(done.stdout)["fixes"] if not fix["follows"])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tclint.toml").write_text("", encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param("", id="plain"),
        pytest.param("weak = true", id="weak findings are shown"),
        pytest.param('select = ["TCL120"]', id="selected"),
        pytest.param('ignore = ["TCL310"]', id="ignored"),
        pytest.param('unfixable = ["TCL120"]', id="unfixable"),
        pytest.param('fixable = ["TCL3"]', id="fixable"),
        pytest.param('extend-unsafe-fixes = ["TCL120"]', id="trusted less"),
        pytest.param('[per-file-ignores]\n"model.py" = ["TCL120"]', id="ignored in the file"),
    ],
)
def test_what_is_fixable_is_fixed_and_nothing_else(project: Path, settings: str) -> None:
    (project / "tclint.toml").write_text(settings + "\n", encoding="utf-8")
    wanted = offered(project)
    assert wanted
    assert applied(project) == wanted


def test_what_is_left_out_is_not_fixed(project: Path) -> None:
    text = 'leave-out = ["*"]\n'
    assert offered(project)
    (project / "tclint.toml").write_text(text, encoding="utf-8")
    assert offered(project) == applied(project) == Counter()


def test_unsafe_fixes_are_those_that_a_check_calls_so(project: Path) -> None:
    wanted = offered(project, unsafe=True)
    assert wanted != offered(project)
    assert applied(project, unsafe=True) == wanted


def test_what_is_hidden_is_not_fixed_until_it_is_asked_for(project: Path) -> None:
    hidden = offered(project, "--weak") - offered(project)
    assert hidden, "the program has to hold a finding of low confidence"
    assert not hidden & applied(project)
    assert hidden <= applied(project, "--weak")


def test_the_baseline_keeps_fixes_away(project: Path) -> None:
    tclint("check", "--baseline=known.json", "--update-baseline", cwd=project)
    added = MODEL + "\n\ndef forward(x):\n    return x\n" + MODEL.replace("Net", "Other")
    (project / "model.py").write_text(added, encoding="utf-8")
    wanted = offered(project, "--baseline=known.json")
    assert wanted
    assert wanted != offered(project)
    assert applied(project, "--baseline=known.json") == wanted


def test_lines_that_did_not_change_are_not_fixed(project: Path) -> None:
    git(project, "init", "-q", ".")
    git(project, "add", ".")
    git(project, "commit", "-qm", "start")
    changed = MODEL.replace("y = x * 2\n", 'y = x * 2\n        print("new", y)\n')
    (project / "model.py").write_text(changed, encoding="utf-8")
    wanted = offered(project, "--diff-only=HEAD")
    assert len(wanted) == 1
    assert applied(project, "--diff-only=HEAD") == wanted


def test_the_cells_of_a_notebook_are_fixed_as_checked(project: Path) -> None:
    (project / "model.py").unlink()
    source = MODEL.splitlines(keepends=True)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": source}
    book = {"cells": [cell, cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (project / "notes.ipynb").write_text(json.dumps(book), encoding="utf-8")
    wanted = offered(project, unsafe=True)
    assert wanted
    assert sum(applied(project, unsafe=True).values()) == sum(wanted.values())


def test_the_summary_names_the_number_that_is_then_fixed(project: Path) -> None:
    lines = tclint("check", cwd=project).stdout.splitlines()
    (said,) = (line for line in lines if line.startswith("Found "))
    number = said.partition("[*] ")[2].partition(" ")[0]
    assert tclint("fix", "--diff", cwd=project).stderr.startswith(f"Would fix {number} findings")
