"""``tclint fix --verify`` as people call it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.copied_command import python_of_copies
from tests.test_cli_check import project, put
from tests.test_cli_fix import FIXABLE
from tests.verify_commands import tclint_here

__all__ = ["project"]

pytest.importorskip("torch")

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x * 2
        print("", end="")
        if x.dim() > 7:
            print(y)
        return y


def make():
    return Net(), (torch.ones(3),), {}
"""
TARGET = '[[verify]]\ntarget = "program.py:make"\nname = "net"\n'
PATIENCE = 120


def spawned(python: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, "-m", "tclint", *arguments],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.slow(20)
def test_confirmed_fixes_are_written_in_the_files_that_the_target_loads(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    (project / "tclint.toml").write_text(TARGET)
    put(project, "program.py", PROGRAM)
    put(project, "other.py", FIXABLE)
    shown = tclint_here(project, "fix", "--verify", "net", "--diff")
    assert shown.returncode == 1
    assert shown.stdout.startswith("--- a/program.py\n")
    assert "GB0059 is gone" in shown.stderr
    told = [line.partition("] ")[2] for line in shown.stderr.splitlines()]
    speeds = {f"net: speed of {kind} code" for kind in ("eager", "compiled")}
    assert {"net: before", "net: 2 of 2 fixes", *speeds} <= set(told)
    assert "- safe fixes: 1 \N{RIGHTWARDS ARROW} 0 graph breaks" in shown.stderr
    assert "    net on cpu: " in shown.stderr
    assert "not executed by the target; kept because it is safe" in shown.stderr
    assert (project / "program.py").read_text() == PROGRAM

    python = python_of_copies(tmp_path_factory.mktemp("bin"))
    done = spawned(python, "fix", "--verify", "--no-speed", "--output-format=json", cwd=project)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [fix["reason"]["ground"] for fix in report["fixes"]] == ["confirmed", "not-executed"]
    assert {fix["status"] for fix in report["fixes"]} == {"applied"}
    assert {fix["step"] for fix in report["fixes"]} == {"safe fixes"}
    assert [(one["kind"], one["pace"]) for one in report["verification"]["worth"]] == []
    (target,) = report["verification"]["targets"]
    assert target == {
        "name": "net", "breaks_before": 1, "breaks_after": 0, "results": "identical",
    }  # fmt: skip
    guarded = 'if not torch.compiler.is_compiling():\n            print("", end="")'
    assert guarded in (project / "program.py").read_text()
    assert (project / "other.py").read_text() == FIXABLE


@pytest.mark.slow
def test_output_in_the_documentation_is_real(project: Path, repository: Path) -> None:
    shutil.copy(repository / "fixtures" / "programs" / "conv_net.py", project)
    page = (repository / "docs" / "fixing.md").read_text(encoding="utf-8")
    command, _, shown = page.partition("$ tclint fix --verify conv_net.py:make ")[2].partition("\n")
    done = tclint_here(project, "fix", "--verify", "conv_net.py:make", *command.split())
    assert done.stdout == shown.partition("```")[0]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_leaves_the_tree_as_it_was(project: Path, number: int) -> None:
    waiting = PROGRAM.replace(
        "    return Net()",
        "    import pathlib, time\n"
        '    pathlib.Path("started").touch()\n'
        "    time.sleep(600)\n"
        "    return Net()",
    )
    put(project, "program.py", waiting)
    command = [sys.executable, "-m", "tclint", "fix", "--verify", "program.py:make"]
    with subprocess.Popen(command, cwd=project, stderr=subprocess.PIPE, env={**os.environ}) as run:
        deadline = time.monotonic() + PATIENCE
        while not (project / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        run.send_signal(number)
        run.communicate(timeout=PATIENCE)
    assert run.returncode != 0
    assert (project / "program.py").read_text() == waiting
    assert not [path for path in project.iterdir() if path.name.startswith(".program")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "'nothing' is not a target"),
        ([], "no target"),
        (["-"], "cannot be verified"),
    ],
)
def test_what_cannot_be_verified_is_refused(project: Path, arguments: list[str], said: str) -> None:
    put(project, "program.py", PROGRAM)
    done = tclint_here(project, "fix", "--verify", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert (project / "program.py").read_text() == PROGRAM
