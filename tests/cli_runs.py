"""Running the command line as people do, and programs to run it on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BREAKS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = x.sum().item()
        return x * scale
"""


def tclint(
    *arguments: str, cwd: Path, stdin: bytes | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command; its output is UTF-8."""
    done = subprocess.run(
        [sys.executable, "-m", "tclint", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
        timeout=180,
    )
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def git(folder: Path, *arguments: str) -> str:
    """Run git without the user's own configuration."""
    identity = ("-c", "user.name=tclint", "-c", "user.email=tclint@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments],
        cwd=folder,
        env=os.environ | {"GIT_CONFIG_GLOBAL": os.devnull},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def commit_all(folder: Path) -> None:
    """Make the folder a git repository that has everything in it committed."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "All")
