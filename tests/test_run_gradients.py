"""Waits in a backward are told at the line of the forward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tclint.run.events import Kind, events_of
from tclint.run.gpu import numbered_waits
from tclint.run.gradients import with_forward_lines
from tclint.run.read import read_folder
from tclint.run.recorded import Gradients, Place, Process, Recorded, Syncs
from tests.recorded_runs import record, run

# torch tells of waits in its threads when they have ended; here it has no GPU to wait for.
PROGRAM = """
import warnings
import torch

warnings.filterwarnings("ignore", message="CUDA is not available")

class Engine:
    def __init__(self, engine):
        self.engine = engine

    def run_backward(self, *args, **kwargs):
        return _engine_run_backward(self.engine.run_backward(*args, **kwargs))

def _engine_run_backward(found):
    if mode[0] and {told}:
        warnings.warn("called a synchronizing CUDA operation (Triggered)", stacklevel=2)
    return found

torch.autograd.graph.Variable._execution_engine = Engine(
    torch.autograd.graph.Variable._execution_engine
)
mode = [0]
torch.cuda.is_initialized = lambda: True
torch.cuda.get_device_name = lambda: "none"
torch.cuda.max_memory_allocated = lambda: 7
torch.cuda.get_sync_debug_mode = lambda: mode[0]
torch.cuda.set_sync_debug_mode = lambda new: mode.__setitem__(0, new)
torch.cuda.is_current_stream_capturing = lambda: False

torch.manual_seed(0)
weight = torch.randn(8, requires_grad=True)
optimizer = torch.optim.SGD([weight], 0.1)

def chosen(x):
    return x[x > 0].sum()

for i in range(30):
    loss = chosen(weight * 2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(weight.tolist(), torch.is_anomaly_enabled())
"""
ROW = 1 + PROGRAM.splitlines().index("    return x[x > 0].sum()")


@pytest.mark.slow
def test_the_line_of_the_forward_is_found(tmp_path: Path) -> None:
    text = PROGRAM.replace("{told}", "True")
    alone = run(tmp_path, text)
    ran = record(tmp_path, text, TCLINT_RECORD_WINDOW="2,0,1")
    assert ran.seen == alone.seen == (0, alone.out, "")
    folder = tmp_path / "recorded"
    (process,) = read_folder(folder).processes
    assert process.gradients is not None
    _wait_in(folder / process.gradients.file, "IndexBackward0")
    told, trouble = with_forward_lines(process, folder)
    assert (trouble, told.notes) == ([], ())
    (event,) = events_of(told)
    assert (event.kind, event.row, event.times) == (Kind.SYNC, ROW, 1)
    assert event.what == "the CPU waits for the GPU in the backward of this line"
    assert [frame.function for frame in event.stack] == ["<module>", "chosen"]


@pytest.mark.slow
def test_where_no_backward_waits_nothing_more_is_watched(tmp_path: Path) -> None:
    ran = record(tmp_path, PROGRAM.replace("{told}", "False"), TCLINT_RECORD_WINDOW="2,0,1")
    assert (ran.status, ran.err) == (0, "")
    assert ran.lines("gradients") == []


def test_a_trace_that_is_gone_leaves_what_is_known(tmp_path: Path) -> None:
    told, trouble = with_forward_lines(_process(), tmp_path)
    assert told == _process()
    assert trouble[0].startswith("the profiler's trace of a backward cannot be read")


def test_steps_that_wait_otherwise_keep_their_lines(tmp_path: Path) -> None:
    events = [_part(5, 0, 90), _wait(10), _wait(50)]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    told, _ = with_forward_lines(_process(), tmp_path)
    # The first step waited once in its backward, the second twice, as this one did.
    assert told.syncs[0].events == ((3, 0), (4, 1), (4, 1))
    assert [event.row for event in events_of(told)] == [7, 70]


def test_a_wait_belongs_to_the_innermost_part_of_its_thread() -> None:
    events = [_part(5, 0, 90), _part(6, 20, 30), _wait(25), _wait(10), _wait(95), _wait(25, tid=2)]
    assert numbered_waits(events) == (5, 6)


def _process() -> Recorded:
    engine = (Place("train.py", 70), Place("/lib/torch/graph.py", 1, "_engine_run_backward"))
    return Recorded(
        Path("process-1-0.jsonl"),
        Process(1, 0, 0, (), "/", "python", "3.11", ("/lib",)),
        syncs=(Syncs(3, 4, (engine,), ((3, 0), (4, 0), (4, 0))),),
        gradients=Gradients(9, 9, "trace.json", ((Place("train.py", 7),),), ((5, 0),)),
    )


def _part(number: int, start: float, length: float) -> dict[str, Any]:
    name = "autograd::engine::evaluate_function: MulBackward0"
    span = {"ph": "X", "name": name, "tid": 1, "ts": start, "dur": length}
    return span | {"args": {"Sequence number": number}}


def _wait(start: float, tid: int = 1) -> dict[str, Any]:
    span = {"ph": "X", "name": "cudaStreamSynchronize", "cat": "cuda_runtime"}
    return span | {"tid": tid, "ts": start, "dur": 1}


def _wait_in(file: Path, part: str) -> None:
    """Put a wait into a trace, where a GPU would have made it."""
    data = json.loads(file.read_text())
    (around,) = (e for e in data["traceEvents"] if str(e.get("name")).endswith(f": {part}"))
    data["traceEvents"].append(_wait(around["ts"] + 0.1, around["tid"]) | {"dur": 0.1})
    file.write_text(json.dumps(data))
