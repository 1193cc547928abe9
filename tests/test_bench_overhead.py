"""What the recorder costs is measured by switching it off and on in one process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.run_overhead.__main__ import SITE, row
from tclint.run.launch import SITE as RECORDER

LOOP = """\
import torch

model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
while True:
    optimizer.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
    optimizer.step()
"""


def blocks(phase: str, slower: float, own: int) -> list[Any]:
    """Ten pairs, of which every second has the recorder first."""
    found = []
    for n in range(10):
        pair = [
            (phase, False, [1_000_000 + n] * 10, [0] * 10),
            (phase, True, [int(1_000_000 * slower) + n] * 10, [own] * 10),
        ]
        found += pair if n % 2 else reversed(pair)
    return found


def test_a_cost_is_the_ratio_of_neighbouring_blocks() -> None:
    told = row("x", [*blocks("first", 1.2, 9_000), *blocks("later", 1.02, 5_000)])
    assert told == (
        "| x | 1 ms | 10 | +2.00% (+2.00% to +2.00%) | 5.0 µs, 0.50% "
        "| +20.00% (+20.00% to +20.00%) | 9.0 µs, 0.90% | ? |"
    )


def test_too_few_blocks_tell_nothing() -> None:
    assert row("x", blocks("later", 1.02, 5_000)[:4]).count(" ? ") == 4


@pytest.mark.slow(10)
def test_where_it_is_off_nothing_of_the_recorder_runs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    kept = {name: text for name, text in os.environ.items() if not name.startswith("TCLINT")}
    told = {
        "PYTHONPATH": os.pathsep.join([str(RECORDER), str(SITE)]),
        "TCLINT_RECORD": str(tmp_path / "recording"),
        "OVERHEAD_OUT": str(tmp_path),
        "OVERHEAD_SECONDS": "0.3",
        "OVERHEAD_SEED": "0",
        "OVERHEAD_DEVICE": "cpu",
    }
    (tmp_path / "recording").mkdir()
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=kept | told, check=True)
    (file,) = tmp_path.glob("blocks-*.json")
    found = json.loads(file.read_text())
    for phase in ("first", "later", "profiled"):
        sides = {on: [own for p, o, _, own in found if (p, o) == (phase, on)] for on in (0, 1)}
        assert len(sides[0]) == len(sides[1]) > 0
        assert not any(ns for each in sides[False] for ns in each)
        assert all(ns > 0 for each in sides[True] for ns in each)
    steps = [json.loads(line) for line in next((tmp_path / "recording").glob("*.jsonl")).open()]
    counted = max(len(line["ends"]) for line in steps if line["kind"] == "steps")
    assert counted >= 12 * sum(on for _, on, _, _ in found)
