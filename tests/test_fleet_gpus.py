"""The log of a fleet on GPUs: what two units on one GPU would look like, and what is compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.fleet_gpus.told import overlaps, page, ratio, runs_of

Line = Mapping[str, Any]


def unit(run: str, name: str, gpus: list[str], start: float, end: float) -> list[Line]:
    """A unit that ran, with a process on each of some GPUs."""
    same = {"run": run, "visible": "0"}
    seen = {**same, "target": name, "card": "H100", "torch": "2.11.0", "time": (start + end) / 2}
    made = [{**seen, "gpu": gpu} for gpu in gpus]
    return [
        {**same, "unit": name, "is_start": True, "time": start},
        *made,
        {**same, "unit": name, "is_start": False, "time": end},
    ]


def timed(run: str, name: str, eager: float, compiled: float) -> Line:
    speeds = [{"eager": eager, "compiled": compiled}]
    return {"run": run, "result": name, "speeds": speeds, "time": 9.0}


@pytest.mark.parametrize(
    ("first", "second", "start", "pairs"),
    [
        (["a"], ["b"], 1.0, 0),
        (["a"], ["a"], 1.0, 1),
        (["a"], ["a"], 2.0, 0),
        (["a", "b"], ["b"], 1.0, 1),  # one that saw both GPUs was alone on neither
    ],
)
def test_units_that_share_a_gpu_are_found(
    first: list[str], second: list[str], start: float, pairs: int
) -> None:
    lines = [*unit("r", "x", first, 0.0, 2.0), *unit("r", "y", second, start, 3.0)]
    (run,) = runs_of(lines)
    assert len(overlaps(run)) == pairs


def test_what_was_cut_off_shared_a_gpu_too() -> None:
    lines = [*unit("r", "x", ["a"], 0.0, 2.0)[:-1], *unit("r", "y", ["a"], 0.5, 3.0)]
    (run,) = runs_of(lines)
    assert [one.unit for one in run.spans] == ["y"]
    assert len(overlaps(run)) == 1


def test_a_unit_that_was_started_again_counts_from_its_last_start() -> None:
    killed, *_ = unit("r", "x", ["a"], 0.0, 1.0)
    (run,) = runs_of([killed, *unit("r", "x", ["b"], 5.0, 7.0)])
    assert [(one.gpu, one.start, one.end) for one in run.spans] == [("b", 5.0, 7.0)]


def test_ratios_that_are_all_one_have_no_interval() -> None:
    assert ratio([1.0] * 5) == (1.0, 1.0, 1.0)
    mean, low, high = ratio([0.9, 1.1, 1.0, 1.2])
    assert low < mean < high


def test_the_page_compares_the_units_that_both_runs_timed() -> None:
    lines = [
        *unit("ray-2", "x", ["a"], 0.0, 2.0),
        *unit("ray-2", "y", ["b"], 0.0, 2.0),
        timed("ray-2", "x", 2.0, 1.1),
        timed("ray-2", "y", 2.0, 1.0),
        *unit("ray-1", "x", ["a"], 3.0, 5.0),
        timed("ray-1", "x", 2.0, 1.0),
    ]
    text = page([*lines, *unit("killed", "z", ["a"], 6.0, 7.0)[:-1]])
    assert "killed" not in text
    assert "| ray-2 | 2 | 2 | 1 + 1 | 0 | 1 |" in text
    assert "| ray-1 | 1 | 1 | 1 | 0 | 2 |" in text
    assert "| x | 2.000, 1.100 | 2.000, 1.000 |" in text
    assert "| y | 2.000, 1.000 |  |" in text
    assert "| ray-2 | 1 | 1.000 (1.000 to 1.000) | 1.100 (1.100 to 1.100) |" in text
