"""What it costs to go in and out of the graphs that breaks make."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tclint.run.switches import switches
from tests.run_recordings import Recording

STEP = 10_000.0
"""Microseconds of a step; those of a recording take ten milliseconds, too."""


def span(name: str, start: float, length: float, category: str = "cpu_op") -> dict[str, Any]:
    return {"ph": "X", "name": name, "ts": start, "dur": length, "cat": category, "tid": 1}


def forward(frame: str, at: float) -> Iterator[dict[str, Any]]:
    """100 us of a graph: 50 of looking up and going in, 10 of coming out."""
    yield span("TorchDynamo Cache Lookup", at, 20)
    yield span(f"Torch-Compiled Region: {frame}", at + 20, 150)
    yield span("CompiledFunction", at + 40, 120)
    yield span("## Call CompiledFxGraph f1 ##", at + 50, 100)


def backward(at: float) -> Iterator[dict[str, Any]]:
    """100 us of a graph, and 60 around it."""
    yield span("autograd::engine::evaluate_function: CompiledFunctionBackward", at, 160)
    yield span("CompiledFunctionBackward", at + 10, 140)
    yield span("## Call CompiledFxGraph b1 ##", at + 30, 100)


def steps(*frames: str, gradients: bool = True, count: int = 3) -> list[dict[str, Any]]:
    """Some steps that run a graph of each frame, forward and backward."""
    found: list[dict[str, Any]] = []
    for step in range(count):
        at = step * STEP
        for number, frame in enumerate(frames):
            found += forward(frame, at + number * 200)
            if gradients:
                found += backward(at + 5000 + number * 200)
        found.append(span("Optimizer.step#SGD.step", at + 9000, 500, "user_annotation"))
    return found


class Traced(Recording):
    """A break in frame 0 that goes on in frame 1, and a trace of what ran."""

    def traced(self, events: list[dict[str, Any]], *more: dict[str, Any]) -> None:
        (self.folder / "profile.json").write_text(json.dumps({"traceEvents": events}))
        profile = {"kind": "profile", "first": 31, "last": 33, "file": "profile.json"}
        lines = [self.break_line(), self.compiled("0/0"), *more]
        lines += [self.compiled("1/0", function="torch_dynamo_resume_in_masked_at_12")]
        lines += [self.steps(), self.samples({5: 100}), profile]
        self.process(*lines, self.end())

    def price(self) -> float:
        """Milliseconds of the line that breaks."""
        answer = self.answer()
        return answer.by_key[str(self.script), 12].total.value


@pytest.fixture
def traced(tmp_path: Path) -> Traced:
    return Traced(tmp_path)


def test_every_graph_but_one_costs_its_way_in_and_out(traced: Traced) -> None:
    traced.traced(steps("0/0", "1/0", "1/0"))
    assert traced.price() == pytest.approx(2 * (0.06 + 0.06))


def test_without_gradients_no_backward_is_counted(traced: Traced) -> None:
    traced.traced(steps("0/0", "1/0", gradients=False))
    assert traced.price() == pytest.approx(0.06)


def test_graphs_of_frames_that_do_not_break_are_needed(traced: Traced) -> None:
    traced.traced(steps("0/0", "1/0", "7/0", "8/0"), traced.compiled("7/0"), traced.compiled("8/0"))
    assert traced.price() == pytest.approx(0.06 + 0.06)


def test_a_step_of_one_graph_costs_nothing(traced: Traced) -> None:
    traced.traced(steps("0/0"))
    assert traced.price() == 0


def test_what_the_profiler_slows_is_scaled(traced: Traced) -> None:
    slow = [
        {**event, "ts": event["ts"] * 2, "dur": event["dur"] * 2} for event in steps("0/0", "1/0")
    ]
    traced.traced(slow)
    assert traced.price() == pytest.approx(0.06 + 0.06)


def test_a_region_in_a_region_is_told_by_its_own_graph(traced: Traced) -> None:
    """A frame runs what goes on after its break: that region lies in its own."""
    events = steps("0/0", "1/0", gradients=False)
    for event in events:
        if event["name"] == "Torch-Compiled Region: 0/0":
            event["dur"] += 400  # eager code, and the frame that goes on
    traced.traced(events)
    assert traced.price() == pytest.approx(0.06)


def test_two_lines_that_break_share_it(traced: Traced) -> None:
    other = traced.break_line()
    other["text"] = other["text"].replace("line 12, in masked", "line 5, in step")
    traced.traced(steps("0/0", "1/0", "1/0"), other)
    assert traced.price() == pytest.approx(0.12)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [span("aten::add", 0, 10)],
        [span("Torch-Compiled Region: 0/0", 0, 10)],
        [span("## Call CompiledFxGraph f1 ##", 0, 10)],
        [*backward(0)],
    ],
    ids=["empty", "eager", "no code", "outside", "backward alone"],
)
def test_traces_without_graphs_of_frames_say_nothing(
    traced: Traced, events: list[dict[str, Any]]
) -> None:
    assert switches(events, 3) is None
    traced.traced(events)
    assert traced.price() == 0


def test_other_threads_are_other_graphs(traced: Traced) -> None:
    here = steps("0/0", "1/0", gradients=False)
    there = [{**e, "tid": 2} for e in steps("0/0", gradients=False) if e["cat"] == "cpu_op"]
    found = switches([*here, *there], 3)
    assert found is not None
    assert found.calls == {"0": 2, "1": 1}
    assert found.forward.value == pytest.approx(0.06)
