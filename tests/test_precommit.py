"""The hooks as a project's own pre-commit runs them, from a clone of this repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runs import commit_all, git
from tests.conftest import writing_bytecode

pytestmark = pytest.mark.slow

CLEAN = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + 1
"""

FIXABLE = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        print(y.mean())
        return y
"""

CONFIG = """\
repos:
  - repo: {source}
    rev: {rev}
    hooks:
      - id: tclint
      - id: tclint-fix
"""


@pytest.fixture(scope="module")
def project(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository that uses the hooks; their environment is built by the first run."""
    commit_all(sources)
    rev = git(sources, "rev-parse", "HEAD").strip()
    project = tmp_path_factory.mktemp("project")
    config = CONFIG.format(source=sources, rev=rev)
    (project / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    (project / "requirements.txt").write_text("torch>=2.6\n", encoding="utf-8")
    return project


def test_a_clean_file_passes(project: Path) -> None:
    stage(project, CLEAN)
    done = pre_commit(project, "tclint")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_finding_fails_the_hook_and_names_the_line(project: Path) -> None:
    stage(project, FIXABLE)
    done = pre_commit(project, "tclint")
    assert done.returncode == 1
    assert "net.py:7" in done.stdout, done.stdout + done.stderr


def test_the_fix_hook_rewrites_once(project: Path) -> None:
    stage(project, FIXABLE)
    first = pre_commit(project, "tclint-fix")
    assert first.returncode == 1
    assert "files were modified by this hook" in first.stdout, first.stdout + first.stderr
    assert "is_compiling" in (project / "net.py").read_text(encoding="utf-8")

    git(project, "add", "--all")
    second = pre_commit(project, "tclint-fix")
    assert second.returncode == 0, second.stdout + second.stderr


def test_only_what_is_staged_is_checked(project: Path) -> None:
    stage(project, CLEAN)
    (project / "net.py").write_text(FIXABLE, encoding="utf-8")
    (project / "my other net.py").write_text(FIXABLE, encoding="utf-8")
    (project / "staged.py").write_text(CLEAN, encoding="utf-8")
    git(project, "add", "staged.py")
    done = pre_commit(project, "tclint", staged=True)
    assert done.returncode == 0, done.stdout + done.stderr
    git(project, "add", "my other net.py")
    done = pre_commit(project, "tclint", staged=True)
    assert done.returncode == 1
    assert "my other net.py:7" in done.stdout
    git(project, "rm", "-fq", "my other net.py")


def test_of_a_partially_staged_file_the_rest_stays(project: Path) -> None:
    stage(project, CLEAN)
    # Changes that are closer together than the context of a patch make pre-commit take fixes back.
    text = FIXABLE + "\n\n" + "x = 1\n" * 10
    (project / "net.py").write_text(text, encoding="utf-8")
    git(project, "add", "net.py")
    (project / "net.py").write_text(f"{text}# not staged\n", encoding="utf-8")
    done = pre_commit(project, "tclint-fix", staged=True)
    assert "files were modified by this hook" in done.stdout, done.stdout + done.stderr
    after = (project / "net.py").read_text(encoding="utf-8")
    assert "is_compiling" in after
    assert after.endswith("# not staged\n")
    assert git(project, "show", ":net.py") == text


def test_notebooks_are_checked_and_stubs_are_not(project: Path) -> None:
    stage(project, CLEAN)
    cell = {"cell_type": "code", "source": FIXABLE.splitlines(keepends=True)}
    notebook = {"cells": [cell], "metadata": {}, "nbformat": 4}
    (project / "notes.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    (project / "net.pyi").write_text(FIXABLE, encoding="utf-8")
    git(project, "add", "--all")
    done = pre_commit(project, "tclint", staged=True)
    assert done.returncode == 1
    assert "notes.ipynb:cell 1:7" in done.stdout
    assert "net.pyi" not in done.stdout
    git(project, "rm", "-fq", "notes.ipynb", "net.pyi")


def test_a_commit_is_stopped(project: Path) -> None:
    stage(project, CLEAN)
    run = [sys.executable, "-m", "pre_commit", "install"]
    subprocess.run(run, cwd=project, env=environment(project), check=True, capture_output=True)
    (project / "net.py").write_text(FIXABLE, encoding="utf-8")
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-am", "Break"],
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "net.py:7" in done.stderr + done.stdout


def stage(project: Path, text: str) -> None:
    """Put the program into the project's index, where pre-commit looks."""
    (project / "net.py").write_text(text, encoding="utf-8")
    commit_all(project)


def pre_commit(
    project: Path, hook: str, *, staged: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run one hook over all files, or over the staged ones."""
    files = [] if staged else ["--all-files"]
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", hook, *files, "--verbose"],
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
        check=False,
    )


def environment(project: Path) -> dict[str, str]:
    """Hooks' environments are kept beside the project."""
    return writing_bytecode(
        PRE_COMMIT_HOME=str(project.with_name("pre-commit-home")), GIT_CONFIG_GLOBAL=os.devnull
    )
