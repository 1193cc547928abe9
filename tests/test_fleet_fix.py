"""``tclint fleet fix``: a branch of the fixes that real runs confirm, and its proof."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.fleet.config import FleetError
from tclint.fleet.units import BREAKS, Measured, Unit, failed
from tclint.git.run import GitError
from tests.fleet_help import BREAK, WHOLE_ONE, run, without_torch

MODELS = """
import torch
from torch import nn

class Printing(nn.Module):
    def forward(self, x):
        y = x * 2
        print("seen")
        return y + 1

class Item(nn.Module):
    def forward(self, x: torch.Tensor):
        top = x.max().item()
        return x * top

def make_printing(): return Printing(), (torch.ones(2, 4),), {}
def make_item(): return Item(), (torch.ones(2, 4),), {}
def make_bad(): raise RuntimeError("no weights | here")
"""
FLEET = '[[target]]\nfactories = "models.py:make_*"\n[[arm]]\nname = "fixed"\nfixed = true\n'


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    without_torch(monkeypatch)
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "FLEET.toml").write_text(FLEET)
    (tmp_path / ".gitignore").write_text("fleet.sqlite*\n__pycache__\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@example.org")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "start")
    return tmp_path


def judge(unit: Unit) -> Measured:
    if unit.target.endswith("bad"):
        return failed("exception", "RuntimeError: no weights | here")
    return replace(WHOLE_ONE, outcome=BREAKS, breaks=(BREAK,))


def make(folder: Path) -> str:
    pytest.importorskip("torch", reason="fixes are confirmed by running them")
    from tclint.cli.fleeting import make_fixes

    return make_fixes(folder / "FLEET.toml", "fixes", 40, unsafe=False)


@pytest.mark.slow(60)
def test_the_branch_has_a_commit_for_each_rule_and_the_text_its_proof(
    project: Path, copied_children: None
) -> None:
    (project / "plain.toml").write_text(FLEET.partition("[[arm]]")[0])
    run(project / "plain.toml", judge)
    text = make(project)
    subjects = git(project, "log", "--reverse", "--format=%s", "HEAD..fixes").splitlines()
    assert subjects == [
        "TCL101 item-in-compiled-region: 1 place",
        "TCL120 print-in-compiled-region: 1 place",
    ]
    assert "- models.py:13: GB0124 is gone" in git(project, "log", "-1", "--format=%b", "fixes~1")
    assert "print" not in git(project, "diff", "-U0", "HEAD", "fixes~1")
    assert "is_compiling" in git(project, "diff", "-U0", "fixes~1", "fixes")
    assert (project / "models.py").read_text() == MODELS
    assert git(project, "status", "--porcelain").split() == ["??", "plain.toml"]
    for line in (
        "# Remove 2 graph breaks in 2 models\n",
        "graphs of 2 models 2 times without these changes and 0 times with them",
        r"| models.py:make\_item | 1 → 0 | identical |",
        "| models.py:13 | TCL101 | Keep the value on the device as a 0-d tensor | GB0124 is gone |",
        "$ git checkout fixes\n$ tclint fleet run FLEET.toml\n",
        r"| models.py:make\_bad | exception: RuntimeError: no weights \| here |",
    ):
        assert line in text
    with pytest.raises(GitError, match="there is a branch 'fixes' already"):
        make(project)


def test_targets_that_were_not_measured_judge_nothing(project: Path) -> None:
    run(project / "FLEET.toml", judge)
    (project / "models.py").write_text(MODELS + "more = 1\n")
    with pytest.raises(FleetError, match=r"no target can judge fixes: .*not measured as it is now"):
        make(project)
