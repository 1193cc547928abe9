"""Whether steps are slower after the recorder's windows is measured by many processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.run_window.__main__ import page
from benchmarks.run_window.clocks import window
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


def row(batch: int, arm: str, before: int, after: int) -> dict[str, Any]:
    probed = {name: [5] * 20 for name in ("host", "python", "launch", "wait")}
    steps = {"early": [(before, before)] * 20, "late": [(after, after)] * 20}
    about = {"first": {"early": 0, "late": 100}, "collected": [(105, 4 * after)]}
    about |= {"before": {**probed, "threads": 6}, "after": {**probed, "threads": 7}}
    return {"script": "x", "batch": str(batch), "arm": arm, "steps": steps, **about}


def test_what_all_of_a_batch_have_in_common_is_the_machines() -> None:
    rows = []
    for batch, slower in enumerate((1.0, 1.2, 2.0)):
        rows.append(row(batch, "none", 1_000_000, int(slower * 1_000_000)))
        rows.append(row(batch, "recorder", 2_000_000, int(slower * 2_200_000)))
    told = list(page([*rows, {"script": "x", "arm": "none", "failed": "why"}]))
    assert told[:2] == ["6 processes, 1 without steps", "why"]
    none, recorder = (line.split(" | ") for line in told[-2:])
    assert none[:5] == ["| none", "3", "3", "1 ms", ""]
    assert recorder[:5] == ["| recorder", "3", "3", "2 ms", "+10.0% (+10.0% to +10.0%)"]
    assert recorder[-1] == "+1.0 |"


def test_a_batch_without_its_reference_tells_nothing() -> None:
    told = list(page([row(0, "recorder", 1_000_000, 1_100_000)]))
    assert " | ? | " in told[-1]


@pytest.mark.slow(10)
def test_the_steps_that_are_timed_lie_around_the_window(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    kept = tmp_path / "kept.jsonl"
    recorder = {"WINDOW_RECORDER": str(RECORDER), "TCLINT_RECORD_WINDOW": "3,20,3"}
    recorder["TCLINT_RECORD_WARM_UP"] = str(window(5, 10))
    job = {
        "imports": ["torch"],
        "folder": str(tmp_path),
        "arguments": ["train.py"],
        "environment": {"WINDOW_STEPS": "5,10,12"},
        "recorders": {"recorder": recorder},
    }
    told = {"jobs": {"x": job}, "arms": ["none", "recorder", "plain"], "seed": 0, "seconds": 8}
    (tmp_path / "told.json").write_text(json.dumps(told | {"kept": str(kept)}))
    command = [sys.executable, "-m", "benchmarks.run_window.copies", str(tmp_path / "told.json")]
    environment = {name: text for name, text in os.environ.items() if "TCLINT" not in name}
    subprocess.run(command, env=environment, check=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    assert {one["arm"] for one in rows if "steps" in one} == {"none", "recorder", "plain"}
    for one in rows[:3]:
        assert [len(one["steps"][part]) for part in ("early", "late")] == [10, 12]
        # Kineto starts a thread.
        profiled = one["after"]["threads"] - one["before"]["threads"]
        assert bool(profiled) == (one["arm"] != "none")
