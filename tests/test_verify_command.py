"""The command as people call it: configuration, formats, files, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.verify_commands import tclint_here

pytest.importorskip("torch")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PROGRAM = (
    "import torch\n"
    "def f(x):\n    print('', end='')\n    return x + 1\n"
    "def make():\n    return f, (torch.ones(2),), {}\n"
)
CONFIG = '[[verify]]\ntarget = "program.py:make"\nname = "program"\n'


COMMAND = ("verify", "--no-speed", "--backend=eager")


def tclint(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return tclint_here(folder, *COMMAND, *arguments)


def spawned(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tclint", *COMMAND, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def project(folder: Path, config: str = CONFIG) -> Path:
    (folder / "tclint.toml").write_text(config)
    (folder / "program.py").write_text(PROGRAM)
    return folder


def test_configured_targets_run_within_their_budget(tmp_path: Path) -> None:
    done = spawned(project(tmp_path, CONFIG + "max-graph-breaks = 1\n"))
    assert done.returncode == 0, done.stderr
    assert "program.py:3: GB0059" in done.stdout
    assert done.stderr.endswith(" s] program: breaks and results\n")


def test_a_report_is_written_to_a_file(tmp_path: Path) -> None:
    done = tclint(
        project(tmp_path), "program", "--output-format", "json", "--output-file", "r.json"
    )
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    assert json.loads((tmp_path / "r.json").read_text())["targets"][0]["target"] == "program"


def test_torch_s_own_log_is_kept_where_its_variable_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_TRACE", "logs")
    assert tclint(project(tmp_path), "program").returncode == 1
    assert [*(tmp_path / "logs").glob("dedicated_log_torch_trace_*.log")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--modes", "fast"], "is not one of default"),
        (["--baseline", "b.json"], "`max-graph-breaks` of `[[tool.tclint.verify]]` allows"),
        (["--unsafe-fixes"], "--unsafe-fixes needs --fixed"),
        (["--before", ".", "--fixed"], "two different comparisons"),
        (["nothing"], "is not a target"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, arguments: list[str], said: str) -> None:
    done = tclint(project(tmp_path), *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.replace("│", " ").split())


def test_a_gpu_that_is_not_there_is_said_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = tclint(project(tmp_path), "program", "--device", "cuda")
    assert done.returncode == 2
    assert "the target is to run on a GPU, but there is none" in done.stdout
