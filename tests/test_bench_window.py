"""Whether steps are slower after the recorder's windows is measured by many processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.run_window.__main__ import SITE, page
from tclint.run.launch import SITE as RECORDER

from .test_bench_overhead import LOOP


def row(seed: int, arm: str, before: int, after: int) -> dict[str, Any]:
    probed = {name: [5] * 20 for name in ("host", "python", "launch", "wait")}
    steps = {"early": [(before, before)] * 20, "late": [(after, after)] * 20}
    about = {"first": {"early": 0, "late": 100}, "collected": [(105, 4 * after)]}
    about |= {"before": {**probed, "threads": 6}, "after": {**probed, "threads": 7}}
    return {"script": "x", "seed": seed, "arm": arm, "steps": steps, **about}


def test_what_all_arms_of_a_call_have_in_common_is_the_machines() -> None:
    rows = []
    for seed, slower in enumerate((1.0, 1.2, 2.0)):
        rows += [row(seed, "none", 1_000_000, int(slower * 1_000_000)) for _ in range(3)]
        rows += [row(seed, "recorder", 2_000_000, int(slower * 2_200_000)) for _ in range(2)]
    told = list(page([*rows, {"script": "x", "arm": "none", "failed": "why"}]))
    assert told[:2] == ["15 processes, 1 without steps", "why"]
    none, recorder = (line.split(" | ") for line in told[-2:])
    assert none[:4] == ["| none", "9", "1 ms", ""]
    assert recorder[:4] == ["| recorder", "6", "2 ms", "+10.0% (+10.0% to +10.0%)"]
    assert recorder[-1] == "+1.0 |"


def test_an_arm_without_its_reference_tells_nothing() -> None:
    told = list(page([row(0, "recorder", 1_000_000, 1_100_000)]))
    assert " | ? | " in told[-1]


@pytest.mark.slow(10)
@pytest.mark.parametrize("arm", ["none", "recorder", "plain"])
def test_the_steps_that_are_timed_lie_around_the_window(arm: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(LOOP)
    (tmp_path / "recording").mkdir()
    kept = {name: text for name, text in os.environ.items() if not name.startswith("TCLINT")}
    sites = [str(SITE)]
    told = {"WINDOW_ARM": arm, "WINDOW_STEPS": "5,10,12"}
    told |= {"WINDOW_OUT": str(tmp_path / "steps.json"), "WINDOW_LOCK": str(tmp_path / "lock")}
    if arm == "recorder":
        sites.insert(0, str(RECORDER))
        told |= {"TCLINT_RECORD": str(tmp_path / "recording"), "TCLINT_RECORD_WARM_UP": "31"}
        told["TCLINT_RECORD_WINDOW"] = "3,20,3,1"
    told["PYTHONPATH"] = os.pathsep.join(sites)
    subprocess.run([sys.executable, "train.py"], cwd=tmp_path, env=kept | told, check=True)
    found = json.loads((tmp_path / "steps.json").read_text())
    assert [len(found["steps"][part]) for part in ("early", "late")] == [10, 12]
    # Kineto starts a thread.
    assert bool(found["after"]["threads"] - found["before"]["threads"]) == (arm != "none")
    files = [*(tmp_path / "recording").glob("*.jsonl")]
    if arm != "recorder":
        assert not files
        return
    lines = [json.loads(line) for line in files[0].open()]
    watched = [line["watched"] for line in lines if line["kind"] == "steps"][-1]
    assert min(first for first, _ in watched) >= found["first"]["early"] + 10
    assert max(last for _, last in watched) < found["first"]["late"]
