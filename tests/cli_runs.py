"""Running the command line as people do, and programs to run it on."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.forks import Forkable, everything

BREAKS = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = x.sum().item()
        return x * scale
"""


def tclint(
    *arguments: str,
    cwd: Path,
    stdin: bytes | None = None,
    timeout: float = 180,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """Run a command; its output is UTF-8."""
    every = {**os.environ, **environment}
    run = _ready().run if _ready().would_start_like(every) else _spawn
    done = run("tclint", arguments, cwd=cwd, env=every, stdin=stdin or b"", timeout=timeout)
    out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def _spawn(
    module: str, arguments: Sequence[str], *, stdin: bytes, **how: Any
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", module, *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=False, **how)


@functools.cache
def _ready() -> Forkable:
    return Forkable(commands(), os.environ, shared=True)


@functools.cache
def commands() -> tuple[str, ...]:
    """What commands import, without the servers: few tests start those, and each copy would pay."""
    servers = ("tclint.agents", "tclint.server")
    return tuple(
        name for name in everything("tclint", "tclint_rules") if not name.startswith(servers)
    )


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
