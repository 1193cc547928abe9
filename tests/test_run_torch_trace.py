"""What torch writes by itself, TORCH_TRACE and TORCH_LOGS, tells the same lines as a recording."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.run.events import Event, Kind, events_of
from tclint.run.moved import moved
from tclint.run.report.text import render
from tclint.run.session import answer
from tclint.run.torch_trace import read_torch

pytest.importorskip("torch")

pytestmark = pytest.mark.slow

SCRIPT = """\
import torch


@torch.compile(backend="eager")
def branch(x, n):
    if x.sum() > 0:
        x = x + 1
    return x * n


branch(torch.ones(3), 1.0)
branch(torch.ones(4), 1.0)
"""


@pytest.fixture(scope="module")
def logged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the script, a folder of structured logs, and a file of plain ones."""
    folder = tmp_path_factory.mktemp("logged")
    (folder / "script.py").write_text(SCRIPT)
    settings = {"TORCH_TRACE": str(folder / "trace"), "TORCH_LOGS": "graph_breaks,recompiles"}
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / "logs.txt").write_text("before\n" + done.stderr + "after\n")
    return folder


def events(path: Path) -> Iterator[Event]:
    for one in read_torch(path).processes:
        yield from events_of(one)


@pytest.mark.parametrize("name", ["trace", "logs.txt"])
def test_breaks_and_recompiles_are_at_their_lines(logged: Path, name: str) -> None:
    found = {(event.kind, event.row) for event in events(logged / name)}
    # What follows the break is a function of its own, which is compiled again as well.
    assert found == {(Kind.BREAK, 6), (Kind.RECOMPILE, 4), (Kind.RECOMPILE, 6)}


def test_both_kinds_of_logs_say_the_same_of_a_break(logged: Path) -> None:
    structured, plain = (
        [event for event in events(logged / name) if event.kind is Kind.BREAK]
        for name in ("trace", "logs.txt")
    )
    assert [event.gb_id for event in structured] == [event.gb_id for event in plain]
    assert [event.what for event in structured] == [event.what for event in plain]
    assert structured[0].stack == plain[0].stack


def test_logs_from_elsewhere_are_joined_to_the_files_here(logged: Path, tmp_path: Path) -> None:
    text = (logged / "logs.txt").read_text().replace(str(logged), "/home/them/project")
    (tmp_path / "sent.txt").write_text(text)
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "script.py").write_text(SCRIPT)
    reading = moved(read_torch(tmp_path / "sent.txt"), tmp_path)
    told = render(answer((), None, reading, tmp_path, Config(tmp_path)), tmp_path)
    assert "project/script.py:6  breaks the graph" in told
    assert "TCL160" in told
    assert "torch's own logs have no steps" in told


def test_what_is_no_log_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("nothing\n")
    with pytest.raises(ValueError, match="neither a structured log of torch"):
        read_torch(tmp_path / "empty.txt")
    with pytest.raises(ValueError, match="neither a structured log of torch"):
        read_torch(tmp_path)


def test_damaged_entries_are_skipped(logged: Path, tmp_path: Path) -> None:
    (file,) = (logged / "trace").glob("*.log")
    lines = file.read_text().split("\n")
    head = lines[0].partition("{")[0]
    broken = [head + '{"half": ', head + "[1, 2]", "\tno head", head + '{"artifact": 3}', *lines]
    (tmp_path / file.name).write_text("\n".join(broken))
    assert {event.row for event in events(tmp_path)} == {4, 6}
