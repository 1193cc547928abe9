"""The recorder beside torch: what it writes, and that nobody else can tell that it is there."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tclint.run.recorded import KINDS
from tests.recorded_runs import Ran, record, run
from tests.recorder_attacks import ATTACKS, program

pytestmark = pytest.mark.slow

TRAIN = """
    import torch

    torch.manual_seed(3)
    model = torch.nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())

    def train(step, steps=25, optimizer=optimizer):
        for i in range(steps):
            optimizer.zero_grad()
            loss = model(torch.ones(2 + i % 2, 4)).square().mean()
            loss.backward()
            {step}

    train(None)
"""


def train(step: str = "optimizer.step()", before: str = "", after: str = "") -> str:
    """A loop, with something before it and after it."""
    text = "\n".join(line[4:] for line in TRAIN.strip("\n").splitlines())
    return f"{before}\n{text.format(step=step)}\n{after}\n"


def steps_of(ran: Ran) -> dict[str, object]:
    follows_the_schema(ran)
    assert ran.lines("note") == []
    last: dict[str, object] = ran.lines("steps")[-1]
    return last


def follows_the_schema(ran: Ran) -> None:
    for process in ran.processes:
        for line in process:
            KINDS[line["kind"]](**{name: line[name] for name in line if name != "kind"})


def test_a_loop_s_steps_losses_and_seed_are_recorded(tmp_path: Path) -> None:
    ran = record(tmp_path, train(after="print('over')"))
    steps = steps_of(ran)
    assert (steps["marker"], len(steps["ends"])) == ("optimizer.step", 25)  # type: ignore[arg-type]
    assert ran.lines("process")[-1]["seed"] == 3
    losses = ran.lines("loss")
    assert [line["step"] for line in losses] == list(range(25))
    place = losses[0]["place"]
    assert (Path(place["filename"]).name, place["row"], place["function"]) == (
        "main.py",
        12,
        "train",
    )


TWIN = """
from torch.utils.checkpoint import checkpoint

class Outer(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        super().__init__(inner.param_groups, {})
    def step(self, closure=None):
        self.inner.step()

def again(part, x):
    return checkpoint(part, x, use_reentrant=True)

def total():
    return b(a(x)).sum()

def closure():
    lbfgs.zero_grad()
    loss = total().square()
    loss.backward()
    return loss

torch.manual_seed(0)
x = torch.ones(2, 3, requires_grad=True)
a, b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
first = torch.optim.SGD(a.parameters(), lr=0.1)
second = torch.optim.SGD(b.parameters(), lr=0.1)
outer, lbfgs = Outer(first), torch.optim.LBFGS(a.parameters())
for i in range(40):
"""
LOOPS = {
    "two optimizers": ("total().backward(); first.step(); second.step()", "optimizer.step", 40),
    "one of five": (
        "total().backward(); first.step(); i % 5 or second.step()",
        "optimizer.step",
        8,
    ),
    "accumulated": ("total().backward(); i % 4 or first.step()", "optimizer.step", 10),
    "much accumulated": ("total().backward(); i < 38 or first.step()", "backward", 40),
    "none": ("total().backward()", "backward", 40),
    "several a step": ("[total().backward() for _ in range(3)]", "backward", 120),
    "made anew": (
        "first = first if i % 20 < 19 else torch.optim.SGD(a.parameters()); first.step()",
        "optimizer.step",
        39,
    ),
    "a wrapped one": ("total().backward(); outer.step()", "optimizer.step", 40),
    "a closure": ("lbfgs.step(closure)", "optimizer.step", 40),
    "gradients alone": (
        "torch.autograd.grad(total(), b.weight); first.step()",
        "optimizer.step",
        40,
    ),
    "checkpoints": ("again(a, again(b, x)).sum().backward()", "backward", 40),
}


def test_the_shape_of_the_loop_says_what_a_step_is(tmp_path: Path) -> None:
    # Each in a process of its own, which has torch already.
    parts = [
        f"if os.fork() == 0:\n    exec({TWIN + '    ' + body!r})\n    raise SystemExit\nos.wait()"
        for body, _, _ in LOOPS.values()
    ]
    shared = "import gc, os, torch, torch._dynamo\ngc.freeze()"
    ran = record(tmp_path, "\n".join([shared, *parts]))
    assert ran.err == ""
    children = [process for process in ran.processes if process[0]["forked"]]
    found = {}
    for name, process in zip(LOOPS, children, strict=True):
        steps = [line for line in process if line["kind"] == "steps"][-1]
        found[name] = (steps["marker"], len(steps["ends"]))
        assert all(one <= other for one, other in pairwise(steps["ends"]))
    assert found == {name: (marker, count) for name, (_, marker, count) in LOOPS.items()}
    assert ran.lines("note") == []


@pytest.mark.slow(30)
def test_no_program_can_tell_that_it_is_recorded(tmp_path: Path) -> None:
    plain, recorded = run(tmp_path, program()), record(tmp_path, program())
    assert plain.out.splitlines().count("0") == len(ATTACKS), plain.err
    assert without_times(recorded.out) == without_times(plain.out)
    assert without_times(recorded.err) == without_times(plain.err)
    assert recorded.status == plain.status
    follows_the_schema(recorded)


TIMES = re.compile(
    r"""
    \b at\ 0x[0-9a-f]+                                 # <function f at 0x7f2b7c0>
    | (?<=^[DIWE])\d{4}\ [\d:.]+\ \d+                 # W1125 15:22:33.334000 4821 torch/...
    | (?<=^USDT:)\d+-\d\d-\d\d\ [\d:]+\ \d+:\d+       # USDT:2026-11-25 15:22:33 821:821 Sync...
    """,
    re.MULTILINE | re.VERBOSE,
)


def without_times(text: str) -> list[str]:
    """The lines, without addresses, dates, clocks and numbers of processes and threads."""
    return TIMES.sub("", text).splitlines()


@pytest.mark.parametrize(
    "line",
    [
        "USDT:2026-11-{day} {clock} {pid}:{pid} SyncActivityProfilerHandler.cpp:52] profiler_start",
        "W11{day} {clock}.334000 {pid} torch/_logging/_internal.py:1345] [0/0] is ignored",
        "<function showwarning at {address}> ['MainThread']",
    ],
)
def test_when_and_in_which_process_a_line_was_written_is_no_difference(line: str) -> None:
    small = line.format(day=25, clock="23:59:59", pid=7, address="0x7f12ab")
    large = line.format(day=26, clock="00:00:01", pid=31999, address="0x7ffffe12ab")
    assert without_times(small) == without_times(large)
    assert without_times(small) != without_times(small.replace("r", "s"))


def test_numbers_are_compared() -> None:
    assert without_times("0x1.8p-3 12:13") != without_times("0x1.4p-3 12:13")
    assert without_times("0x1.8p-3 12:13") != without_times("0x1.8p-3 12:14")


def test_windows_look_at_steps_of_their_own(tmp_path: Path) -> None:
    ran = record(
        tmp_path, train("optimizer.step(); time.sleep(0.003)", "import time").replace("25", "60")
    )
    watched = steps_of(ran)["watched"]
    (samples, *_), (profile,) = ran.lines("samples"), ran.lines("profile")
    assert watched[:2] == [[10, 30], [31, 35]]
    assert (samples["first"], samples["last"]) == (10, 29)
    assert (profile["first"], profile["last"]) == (32, 34)
    places = {(stack[-1]["row"], stack[-1]["function"]) for stack in samples["stacks"]}
    assert (13, "train") in places
    assert all(stack[0]["function"] == "<module>" for stack in samples["stacks"])
    trace = json.loads((tmp_path / "recorded" / profile["file"]).read_text("utf-8"))
    names = [event.get("name") for event in trace["traceEvents"]]
    assert names.count("Optimizer.step#AdamW.step") in {3, 4}
    ends = steps_of(ran)["ends"]
    base = int(trace["baseTimeNanoseconds"])
    times = [base + event["ts"] * 1000 for event in trace["traceEvents"] if event.get("ph") == "X"]
    assert ends[30] <= min(times) and max(times) <= ends[35]  # type: ignore[index]


def test_short_steps_are_looked_at_again_until_enough_is_seen(tmp_path: Path) -> None:
    ran = record(tmp_path, train("optimizer.step()").replace("25", "400"))
    windows = [(one["first"], one["last"]) for one in ran.lines("samples")]
    assert len(windows) > 2
    assert all(last - first == 19 for first, last in windows[:-1])
    quiet = [after[0] - before[1] for before, after in pairwise(windows[1:])]
    assert all(steps > 20 for steps in quiet), "as many steps between that nobody looks at"


def test_long_steps_are_looked_at_once(tmp_path: Path) -> None:
    program = train("optimizer.step(); time.sleep(0.02)", "import time").replace("25", "80")
    assert len(record(tmp_path, program).lines("samples")) == 1


SYNCS = """
import warnings

# A GPU that is not there: torch's warnings come by the same way.
mode = [0]
torch.cuda.is_initialized = lambda: True
torch.cuda.get_device_name = lambda: "none"
torch.cuda.max_memory_allocated = lambda: 7
torch.cuda.get_sync_debug_mode = lambda: mode[0]
torch.cuda.is_current_stream_capturing = lambda: False

def set_mode(new):
    mode[0] = new
    warnings.warn("Synchronization debug mode is a prototype feature", stacklevel=2)

torch.cuda.set_sync_debug_mode = set_mode

def synchronize():
    if mode[0]:
        warnings.warn("called a synchronizing CUDA operation (Triggered)", stacklevel=2)

def read():
    synchronize()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        synchronize()
        warnings.simplefilter("always")
        synchronize()
        warnings.warn("mine")
    assert len(caught) == 1, caught
    with warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.filterwarnings("error", message="called")
        synchronize()

outer = warnings.catch_warnings()
"""


def test_syncs_are_heard_by_nobody_else(tmp_path: Path) -> None:
    body = "optimizer.step(); i == 11 and outer.__enter__(); i == 16 and outer.__exit__(); read()"
    after = "print(mode, [f for f in warnings.filters if type(f[1]).__name__ == '_Ours'])"
    text = train(body, "import torch\n" + SYNCS, after).replace("25", "20")
    ran = record(tmp_path, text, TCLINT_RECORD_WINDOW="3,0,0")
    assert (ran.status, ran.out, ran.err) == (0, "[0] []\n", "")
    steps_of(ran)
    (syncs,) = ran.lines("syncs")
    # The first window opens at the end of a step, which here is before that step reads.
    assert [step for step, _ in syncs["events"]] == [
        step for step in (10, 11, 12) for _ in range(4)
    ]
    places = [[place["function"] for place in stack] for stack in syncs["stacks"]]
    assert places == [["<module>", "train", "read", "synchronize"]] * 4
    assert ran.lines("memory") == [{"kind": "memory", "peak": 7}]


@pytest.mark.parametrize(
    "loop", ["train(None)", "threading.Thread(target=train, args=(None,)).start()"]
)
def test_a_process_is_ended_politely_after_some_steps(loop: str, tmp_path: Path) -> None:
    text = train().replace(
        "train(None)", f"import atexit, threading\natexit.register(print, 'end')\n{loop}"
    )
    text = text.replace("optimizer.step()", "optimizer.step(); print(i)")
    ran = record(tmp_path, text, TCLINT_RECORD_STEPS="3")
    assert (ran.status, ran.out, ran.err) == (0, "0\n1\nend\n", "")
    assert len(steps_of(ran)["ends"]) == 3  # type: ignore[arg-type]
    assert [line["how"] for line in ran.lines("end")] == ["stopped after 3 steps"]
    assert len(ran.lines("loss")) == 3


def test_a_torch_without_a_part_leaves_a_note_and_the_rest(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("__version__ = '1.0'\n", encoding="utf-8")
    ran = record(tmp_path, "import torch; print(torch.__spec__.loader is torch.__loader__)")
    assert ran.seen == (0, "True\n", "")
    assert [line["what"] for line in ran.lines("note")] == ["torch"]
    assert ran.lines("process")[-1]["torch"] == "1.0"


@pytest.mark.skipif(not Path("/proc/self/schedstat").is_file(), reason="Linux tells it")
def test_what_threads_take_that_pin_memory_is_recorded_with_the_samples(tmp_path: Path) -> None:
    before = """
import threading

over = threading.Event()

def _pin_memory_loop():
    while not over.is_set():
        sum(range(1000))

def other():
    over.wait()

threads = [threading.Thread(target=one, daemon=True) for one in (_pin_memory_loop, other)]
for thread in threads:
    thread.start()
"""
    step = "optimizer.step(); over.wait(0.005)"
    ran = record(tmp_path, train(step, before=before))
    follows_the_schema(ran)
    (samples, *_) = ran.lines("samples")
    assert samples["pinning"] > 0
    (tmp_path / "none").mkdir()
    (plain, *_) = record(tmp_path / "none", train()).lines("samples")
    assert plain["pinning"] == 0
