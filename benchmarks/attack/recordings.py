"""Recordings, logs, traces and reports that are damaged or forged: what reads them must survive.

``trace``, ``run --compare`` and the pytest plugin read files that other programs wrote, on other
machines. Promised: a run ends in time and memory, without a traceback and without a byte that a
terminal obeys, with a report or with one error; what is no regular file is not read, and no name of
a recording leads out of its folder. Failures are what no run may show, errors of many lines, and
what lies outside.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.attack.command import Done, clean_environment, complaints, ran
from benchmarks.attack.kind import Kind, Slice, Tried
from tclint.children import module_command

START = 1_700_000_000_000_000_000
MS = 1_000_000
SECRET = "the line of a file that no recording may show"
SCRIPT = """\
import torch


@torch.compile
def step(model, x):
    print("x")
    return model(x).sum().item()


for _ in range(9):
    step(torch.nn.Linear(3, 3), torch.ones(3))
"""
BREAK = """\
Graph break in user code at {file}:6
Graph Break Reason: Failed to trace builtin operator
  Explanation: Dynamo does not know how to trace builtin operator `print`
 For more details about this graph break, please visit: https://x.org/gb/gb0059.html
User code traceback:
  File "{file}", line 11, in <module>
    step(torch.nn.Linear(3, 3), torch.ones(3))
  File "{file}", line 6, in step
    print("x")
"""
ESC = "\x1b]0;owned\x07\x1b[2J\u202e"
VALUES: Sequence[Any] = (
    None, True, -1, 0, 2**31, 2**63, 2**64, 10**99, 10**400, 1e308, -1e308, 5e-324, float("inf"),
    float("nan"), "", "\0", "x" * 100_000, ESC, "\ud800", "/dev/zero", "../../outside/secret.py",
    "a/" * 200, "a" * 300, [], [[]], {}, {"": {}}, [None], ["x", 1], {"kind": "process"},
    "0x1p99999", "1e999", "nan", "::error::x", "<script>alert(1)</script>", "9" * 5_000,
)  # fmt: skip
RAW = (
    b"", b"[" * 200_000, b'{"a":' * 200_000, b"\xff\xfe\x00", b'{"kind": "process", "pid": 1e999}',
    b"1" * 400, b"9" * 1_000_000, b'"' + b"a" * 1_000_000, b"\n" * 1_000_000,
    b'File "/x/' * 20_000 + b"site-packages", b'File "x' * 40_000, b"(\\S+.py" * 40_000,
    b"Graph break in user code at " * 20_000, b"x" * 300_000 + b".py:1 in f",
    b"Recompiling function f in " * 20_000, b'{"traceEvents": [{"ph": "X"}]}', b"NaN", b"{}",
)  # fmt: skip
_HEAD = "V1125 10:00:00.000000 {pid} torch/_dynamo/x.py:1] "


def tried(part: Slice) -> Iterator[Tried]:
    """Damage one file of an honest set, and have everything read it."""
    for number in part.numbers:
        chance = part.chance(number)
        folder = part.folder / str(number)
        reader = READERS[number % len(READERS)]
        what, bad = attacked(reader, folder, chance)
        yield Tried(number, what, "\n".join(bad) or None, (what.partition(" ")[0],))
        if not bad:
            shutil.rmtree(folder, ignore_errors=True)


def attacked(reader: Reader, folder: Path, chance: random.Random) -> tuple[str, list[str]]:
    """What was done to which file, and what went wrong."""
    project = folder / "project"
    project.mkdir(parents=True)
    (folder / "outside").mkdir()
    (folder / "outside" / "secret.py").write_text(f"# {SECRET}\n" * 9)
    (project / "train.py").write_text(SCRIPT)
    honest(project)
    file = project / chance.choice(reader.files)
    what = damaged(file, chance)
    bad = []
    for command in reader.commands:
        done = _pytest(project) if command[0] == "pytest" else ran(*command, folder=project)
        bad += [f"{' '.join(command)}: {one}" for one in wrong(done)]
        if done.code is None:
            break
    return f"{what} {file.name}", bad


def wrong(done: Done) -> Iterator[str]:
    """What a run shows that it may not."""
    yield from complaints(done)
    if SECRET.encode() in done.printed:
        yield "it showed what lies outside"
    if done.code == 2 and len(done.err.strip().splitlines()) > 12:
        yield f"its error has {len(done.err.splitlines())} lines"


def _pytest(project: Path) -> Done:
    """Run a suite of one test with the plugin; pytest's codes for faults are 3 and 4."""
    command = module_command("pytest", "-q", "-p", "no:cacheprovider", "--rootdir=.")
    try:
        done = subprocess.run(
            [*command, "test_one.py"], cwd=project, env=clean_environment(), timeout=60,
            capture_output=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        return Done(None, error.stdout or b"", error.stderr or b"")
    code = {4: 2, 3: -3}.get(done.returncode, done.returncode)
    return Done(code, done.stdout, done.stderr)


def damaged(file: Path, chance: random.Random) -> str:
    """Damage a file in one of many ways, and say in which."""
    match chance.randrange(10):
        case 0:
            file.write_bytes(chance.choice(RAW))
            return "replaced"
        case 1:
            data = file.read_bytes()
            cut = chance.randrange(len(data) + 1)
            file.write_bytes(data[:cut] + chance.choice(RAW) + data[cut:])
            return "spliced"
        case 2:
            return _replaced_by_something_else(file, chance)
        case _:
            _forge(file, chance)
            return "forged"


def _replaced_by_something_else(file: Path, chance: random.Random) -> str:
    file.unlink()
    match chance.randrange(5):
        case 0:
            os.mkfifo(file)
        case 1:
            file.symlink_to("/dev/zero")
        case 2:
            file.mkdir()
        case 3:
            file.symlink_to(file.name)
        case _:
            file.write_bytes(b"")
            os.truncate(file, 1 << 38)
    return "no-file"


def _forge(file: Path, chance: random.Random) -> None:
    """Put other values in the places of some, in JSON, or in the lines of it."""
    text = file.read_text("utf-8")
    if file.suffix == ".jsonl":
        lines = text.splitlines()
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(len(lines))
            lines[at] = forged(lines[at], chance)
        text = "\n".join(lines)
    elif file.suffix == ".json":
        text = forged(text, chance)
    else:
        rows = text.split("\n")
        at = chance.randrange(len(rows))
        head, brace, rest = rows[at].partition("{")
        other = forged(brace + rest, chance) if brace else str(chance.choice(VALUES))
        rows[at] = (head if brace else head[: chance.randrange(len(head) + 1)]) + other
        text = "\n".join(rows)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))


def forged(text: str, chance: random.Random) -> str:
    """JSON with other values in the places of some."""
    try:
        data = json.loads(text)
    except ValueError:  # it has been forged before
        return text + text
    for _ in range(chance.randint(1, 3)):
        places = [*_places(data)]
        if not places:
            return json.dumps(chance.choice(VALUES))
        holder, key = chance.choice(places)
        match chance.randrange(6):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[str(chance.choice(VALUES))[:200]] = holder[key]
            case 2 if isinstance(holder, list):
                holder += holder * chance.randint(1, 3)
            case _:
                holder[key] = copy.deepcopy(chance.choice(VALUES))
    return json.dumps(data).replace("Infinity", "1e999")


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """All places of a value that hold another one."""
    stack = [data]
    while stack:
        one = stack.pop()
        if isinstance(one, dict | list):
            for key in one if isinstance(one, dict) else range(len(one)):
                yield one, key
                stack.append(one[key])


def honest(project: Path) -> None:
    """Files as honest programs leave them."""
    recording = project / "recording"
    recording.mkdir()
    rows = [json.dumps(row) for row in recorded(str(project / "train.py"))]
    (recording / "process-1-0.jsonl").write_text("\n".join(rows) + "\n")
    for name in ("profile.json", "gradients.json"):
        (recording / name).write_text(json.dumps({"traceEvents": _spans()}))
    (project / "trace").mkdir()
    log = "\n".join(_structured(str(project / "train.py"))) + "\n"
    (project / "trace" / "dedicated_log_torch_trace_1.log").write_text(log)
    (project / "logs.txt").write_text("\n".join(_plain(str(project / "train.py"))) + "\n")
    for name in ("before.json", "after.json"):
        (project / name).write_text(json.dumps(_report(str(project / "train.py"))))
    counts = {"breaks": 1, "recompiles": 0, "graphs": 1}
    budget = {"version": 1, "tests": {"test_one.py::test_one": counts}}
    (project / ".tclint-budget.json").write_text(json.dumps(budget))
    (project / "test_one.py").write_text("def test_one():\n    pass\n")
    (project / "pytest.ini").write_text("[pytest]\n")


def recorded(file: str) -> Iterator[dict[str, Any]]:
    """The lines that the recorder leaves of an honest process."""
    place = {"filename": file, "row": 6, "function": "step"}
    stack = [{"filename": file, "row": 11, "function": "<module>"}, place]
    yield {
        "kind": "process", "pid": 1, "parent": 0, "started": START, "arguments": ["python"],
        "folder": str(Path(file).parent), "executable": "python", "python": "3.11",
        "torch": "2.13.0", "cuda": "12.8", "device": "GPU", "rank": 0, "world_size": 1,
        "libraries": ["/usr/lib/python3.11", "/env/lib/site-packages"],
    }  # fmt: skip
    text = BREAK.format(file=file)
    yield {"kind": "break", "at": START, "compile_id": "0/0", "text": text}
    compiled = {"at": START, "function": "step", "filename": file, "row": 5, "seconds": 0.5}
    yield {"kind": "compiled", "compile_id": "0/0", **compiled}
    reason = "0/0: n == 1  # return model(x)  # train.py:7 in step"
    yield {"kind": "compiled", "compile_id": "0/1", "recompile_reason": reason, **compiled}
    yield {"kind": "cudagraph-skip", "at": START, "reason": "skipping cudagraphs"}
    ends = [START + n * 10 * MS for n in range(41)]
    yield {
        "kind": "steps", "marker": "optimizer.step", "place": place, "ends": ends, "warm_up": 10,
        "watched": [[13, 15], [33, 36]],
    }  # fmt: skip
    yield {"kind": "loss", "step": 1, "value": (0.5).hex(), "place": place}
    hits = [[START + (150 + n) * MS, n % 2] for n in range(90)]
    yield {
        "kind": "samples", "interval": MS, "first": 15, "last": 24, "stacks": [stack, stack[:1]],
        "hits": hits,
    }  # fmt: skip
    engine = {"filename": "/env/x.py", "row": 1, "function": "_engine_run_backward"}
    yield {
        "kind": "syncs", "first": 13, "last": 15, "stacks": [stack, [*stack, engine]],
        "events": [[13, 0], [14, 1], [15, 0]],
    }  # fmt: skip
    yield {"kind": "profile", "first": 33, "last": 36, "file": "profile.json"}
    yield {
        "kind": "gradients", "first": 33, "last": 36, "file": "gradients.json",
        "stacks": [stack], "numbers": [[7, 0]],
    }  # fmt: skip
    yield {"kind": "memory", "peak": 1 << 30}
    yield {"kind": "note", "what": "the profiler", "reason": "none"}
    yield {"kind": "end", "at": START + 500 * MS, "how": "exit"}


def _spans() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def span(name: str, cat: str, ts: float, dur: float, **args: Any) -> None:
        event = {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "tid": 1, "args": args}
        found.append(event)

    for n in range(3):
        at = n * 10_000.0
        span("Torch-Compiled Region: 0/0", "cpu_op", at + 100, 2_000)
        span("TorchDynamo Cache Lookup", "cpu_op", at + 90, 5)
        span("CompiledFunction", "cpu_op", at + 150, 1_500, **{"Sequence number": 7})
        span("## Call CompiledFxGraph x", "cpu_op", at + 200, 1_000)
        span("aten::mul", "cpu_op", at + 210, 10, **{"Sequence number": 7})
        span("cudaLaunchKernel", "cuda_runtime", at + 215, 5, correlation=n)
        span("kernel", "kernel", at + 300, 900, correlation=n)
        span("autograd::engine::evaluate_function: X", "cpu_op", at + 3_000, 2_000,
             **{"Sequence number": 7})  # fmt: skip
        span("cudaStreamSynchronize", "cuda_runtime", at + 3_100, 500)
        span("Optimizer.step#Adam.step", "user_annotation", at + 6_000, 1_000)
    return found


def _structured(file: str) -> Iterator[str]:
    head = _HEAD.format(pid=7)
    ids = {"frame_id": 0, "frame_compile_id": 0, "rank": 0}
    artifact = {"name": "dynamo_graph_break_reason", "encoding": "string"}
    yield head + json.dumps({"artifact": artifact, **ids})
    yield from ("\t" + line for line in BREAK.format(file=file).split("\n"))
    skip = {"name": "cudagraph_skip_reason", "encoding": "string"}
    yield head + json.dumps({"artifact": skip, **ids})
    yield "\tskipping"
    metrics = {
        "compile_id": "0/0", "co_name": "step", "co_filename": file, "co_firstlineno": 5,
        "entire_frame_compile_time_s": 0.5, "start_time": 1.7e9, "graph_op_count": 3,
        "recompile_reason": "0/0: n == 1  # train.py:7 in step", "fail_type": None,
    }  # fmt: skip
    yield head + json.dumps({"compilation_metrics": metrics, **ids})


def _plain(file: str) -> Iterator[str]:
    head = _HEAD.format(pid=7) + "[0/0] "
    text = BREAK.format(file=file).split("\n")
    yield from (f"{head}[__graph_breaks] {line}" for line in text)
    yield f"{head}[__recompiles] Recompiling function step in {file}:5"
    yield f"{head}[__recompiles]     - 0/0: n == 1  # train.py:7 in step"


def _report(file: str) -> dict[str, Any]:
    step = {"value": 10.0, "low": 9.0, "high": 11.0}
    event = {"kind": "graph-break", "filename": file, "row": 6, "what": "print", "by_torch": False}
    line = {
        "path": "train.py",
        "filename": file,
        "row": 6,
        "rank": 1,
        "ms": step,
        "events": [event],
    }
    return {"ranks": [{"steps": 30, "step_ms": step}], "lines": [line, line]}


class Reader:
    """Commands, and the files that they read."""

    def __init__(self, files: Sequence[str], *commands: str) -> None:
        self.files = files
        self.commands = [command.split() for command in commands]


_FORMATS: Callable[[str], Sequence[str]] = lambda path: [  # noqa: E731
    f"trace {path}", f"trace {path} --output-format html", f"trace {path} --output-format json"
]  # fmt: skip
READERS = (
    Reader(
        [
            *["recording/process-1-0.jsonl"] * 4,
            "recording/profile.json",
            "recording/gradients.json",
        ],
        *_FORMATS("recording"),
    ),
    Reader(["trace/dedicated_log_torch_trace_1.log"], *_FORMATS("trace")),
    Reader(["logs.txt"], *_FORMATS("logs.txt")),
    Reader(
        ["before.json", "after.json"],
        "run --compare before.json after.json",
        "run --compare after.json before.json --output-format json",
    ),
    Reader([".tclint-budget.json"], "pytest"),
)
KIND = Kind("recordings", 1000, 20, tried)
