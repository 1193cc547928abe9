"""The hooks as a project's own pre-commit runs them, from a clone of this repository."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def stage(project: Path, text: str) -> None:
    """Put the program into the project's index, where pre-commit looks."""
    (project / "net.py").write_text(text, encoding="utf-8")
    commit_all(project)


def commit_all(folder: Path) -> None:
    """Make the folder a git repository that has everything in it committed."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    identity = ("-c", "user.name=tclint", "-c", "user.email=tclint@example.org")
    git(folder, *identity, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "All")


def git(folder: Path, *arguments: str) -> str:
    """Run git without the user's own configuration."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def pre_commit(project: Path, hook: str) -> subprocess.CompletedProcess[str]:
    """Run one hook over all files, with environments kept beside the project."""
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "run", hook, "--all-files", "--verbose"],
        cwd=project,
        env=os.environ | {"PRE_COMMIT_HOME": str(project.with_name("pre-commit-home"))},
        capture_output=True,
        text=True,
        check=False,
    )
