"""``tclint run`` as one types it: the command's own output and status, then the report."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.run.launch import Settings
from tclint.run.proof import prove
from tests.cli_runs import tclint

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

SCRIPT = """\
import sys

import torch

torch.manual_seed(0)
weight = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)


@torch.compile(backend="eager")
def loss_of(x):
    y = (weight * x).sum()
    if y > 100:
        y = y * 2
    return y


for step in range(40):
    loss = loss_of(torch.ones(3) * step)
    loss.backward()
    optimizer.step()
print("done", len(sys.argv))
sys.exit(int(sys.argv[1]))
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return tclint("run", *arguments, cwd=folder, timeout=600)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def test_the_command_keeps_its_output_and_its_status_and_the_report_follows(project: Path) -> None:
    done = run(project, "--keep", "kept", "--", sys.executable, "train.py", "3")
    assert done.returncode == 3
    output, _, report = done.stdout.partition("done 2\n")
    assert output == ""
    assert "train.py 3 · status 3" in report
    assert re.search(r"steps(; [\d.]+ in the mean)?\) · ", report)
    assert "1 graph break" in report
    assert "note: the command ended with status 3" in report
    again = tclint("trace", "kept", "--output-format", "json", cwd=project)
    assert again.returncode == 0
    told = json.loads(again.stdout)
    assert told["breaks_explained"] == {"known": 1, "of": 1}
    (line,) = [line for line in told["lines"] if line["row"] == 13]
    assert line["code"] == "TCL160"


def test_a_number_of_steps_ends_the_command_politely(project: Path) -> None:
    done = run(project, "--steps", "12", "--", sys.executable, "train.py", "3")
    assert "done" not in done.stdout
    assert done.returncode == 0, done.stderr


def test_a_seed_makes_two_runs_alike(project: Path) -> None:
    script = SCRIPT.replace("torch.manual_seed(0)\n", "").replace("torch.ones(3)", "torch.rand(3)")
    (project / "train.py").write_text(script.replace("torch.ones(3, req", "torch.rand(3, req"))
    losses = []
    for number in ("7", "7", "8"):
        report = ("--output-format", "json", "--output-file", f"{len(losses)}.json")
        run(project, "--seed", number, *report, "--", sys.executable, "train.py", "0")
        told = json.loads((project / f"{len(losses)}.json").read_text())
        losses.append(told["ranks"][0]["losses"])
    assert losses[0] == losses[1] != losses[2]


def test_a_proof_runs_the_fixes_and_leaves_the_files(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    fixed = fix_files([project / "train.py"], Config(project))
    proof = prove((sys.executable, "train.py", "0"), fixed, Settings(), project)
    assert (project / "train.py").read_text() == SCRIPT
    assert (proof.before.breaks, proof.after.breaks) == (1, 0)
    assert proof.same is True
    assert proof.losses == "same bits in all losses (40 steps)"


def test_a_proof_says_from_which_step_on_losses_differ(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    fixed = fix_files([project / "train.py"], Config(project))
    (file,) = fixed.changed
    wrong = replace(file, after=SCRIPT.replace("lr=0.1", "lr=0.2"))
    command = (sys.executable, "train.py", "0")
    proof = prove(command, replace(fixed, changed=(wrong,)), Settings(), project)
    assert proof.same is False
    assert re.match(r"behaviour: losses differ from step \d+ on: [\d.]+ before, ", proof.losses)


def test_a_command_that_does_not_exist_is_one_clear_error(project: Path) -> None:
    done = run(project, "--", "no-such-command", "x")
    assert done.returncode == 2
    assert "no-such-command: no such command" in done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "no command: write it after `--`"),
        (("--apply", "--", "python"), "--apply needs --prove"),
        (("--unsafe-fixes", "--", "python"), "--unsafe-fixes and --remedies need --prove or --abl"),
        (("python", "x.py", "--opt"), "after `--`: tclint run -- python x.py --opt"),
        (
            ("--seed", "1", "python", "x.py", "--seed", "2"),
            "--seed may be an option of tclint or of the command.",
        ),
        (("--output-format", "json", "--", "python"), "--output-format needs --output-file"),
    ],
)
def test_options_that_do_not_go_together_are_errors(
    project: Path, options: tuple[str, ...], words: str
) -> None:
    done = run(project, *options)
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


def test_a_command_without_torch_is_told_so(project: Path) -> None:
    done = run(project, "--", sys.executable, "-c", "print('hello')")
    assert done.returncode == 0
    assert done.stdout.startswith("hello\n")
    assert "note: no process of the command imported torch" in done.stdout


def test_a_folder_that_holds_something_is_not_written_to(project: Path) -> None:
    done = run(project, "--keep", ".", "--", sys.executable, "-c", "")
    assert done.returncode == 2
    assert "--keep needs a folder that is empty" in done.stderr
