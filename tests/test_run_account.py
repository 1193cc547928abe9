"""Where the time of a loop goes: shares that add up, work of some steps, and what is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tclint.run.account import Group, account_of
from tclint.run.gpu import Activity
from tclint.run.intervals import Interval
from tclint.run.outlook import Ceiling, KernelClass, KernelClasses, Tried
from tclint.run.own_code import OwnFile
from tclint.run.recorded import Samples
from tclint.run.report.text import render
from tclint.run.report.verdict_words import savings
from tclint.run.session import Answer
from tclint.run.verdict import lacks
from tests.run_recordings import MS, START, Recording
from tests.test_run_host import BACKWARD, LOADER, LOOP, MODULE, OPTIMIZER, TORCH

ROLLOUT = """\
import torch


def rollout(policy, env):
    with torch.no_grad():
        action = policy(env.state)
    return env.step(action)


def train(policy, optimizer, env):
    for _ in range(9):
        data = rollout(policy, env)
        for _ in range(4):
            loss = policy(data).mean()
            loss.backward()
            optimizer.step()


train(None, None, None)
"""


class Watched(Recording):
    """A loop of which each step is seen to its end, some moments after the other."""

    def __init__(self, folder: Path, text: str, step: int) -> None:
        super().__init__(folder)
        self.script.write_text(text)
        self.step = step
        self.last = text.count("\n")
        self.now = START
        self.ends: list[int] = []
        self.hits: list[list[int]] = []
        self.stacks: list[list[dict[str, Any]]] = []

    def spend(self, milliseconds: float, *rows: tuple[int, str], inside: Any = ()) -> None:
        """Be at a line for so long, which one look finds out at its end."""
        stack = [self.place(self.last, "<module>"), *(self.place(*row) for row in rows)]
        stack += [{"filename": f, "row": r, "function": name} for f, r, name in inside]
        if stack not in self.stacks:
            self.stacks.append(stack)
        self.now += int(milliseconds * MS)
        self.hits.append([self.now, self.stacks.index(stack)])

    def end_step(self) -> None:
        self.ends.append(self.now)

    def done(self, *more: dict[str, Any], **about: Any) -> None:
        numbers = {}
        for stack in self.stacks:
            for place in stack:
                numbers.setdefault(tuple(place.items()), len(numbers))
        watch = {
            "kind": "watch", "interval": MS, "hits": self.hits,
            "places": [dict(place) for place in numbers],
            "stacks": [[numbers[tuple(p.items())] for p in stack] for stack in self.stacks],
        }  # fmt: skip
        steps = {
            "kind": "steps", "marker": "optimizer.step", "place": self.place(self.step, "train"),
            "ends": self.ends, "warm_up": 10, "watched": [],
        }  # fmt: skip
        libraries = ["/usr/lib/python3.11", "/env/lib/site-packages", TORCH]
        self.process(*more, steps, watch, self.end(), libraries=libraries, **about)

    def shares(self) -> dict[str, float]:
        account = self.answer().account
        return {group.name or group.kind: round(account.share(g.ms), 2) for g in account.groups
                for group in [g]}  # fmt: skip


def rollouts(folder: Path, steps: int = 80) -> Watched:
    seen = Watched(folder, ROLLOUT, 16)
    for step in range(steps):
        if step % 4 == 0:
            seen.spend(4, (12, "train"), (6, "rollout"), inside=MODULE)
            seen.spend(8, (12, "train"), (7, "rollout"))
        seen.spend(1, (14, "train"), inside=MODULE)
        seen.spend(1, (15, "train"), inside=BACKWARD)
        seen.spend(1, (16, "train"), inside=OPTIMIZER)
        seen.end_step()
    return seen


def test_what_every_fourth_step_does_is_a_group_of_its_own(tmp_path: Path) -> None:
    seen = rollouts(tmp_path)
    seen.done()
    first: Group = seen.answer().account.groups[0]
    assert (first.kind, first.name, first.place) == ("line", "rollout", (str(seen.script), 12))
    assert first.every == pytest.approx(4, rel=0.1)
    assert first.once == pytest.approx(12, rel=0.1)
    told = seen.told()
    assert re.search(r"takes 5.9\d* ms: (49|50)% rollout \(train.py:12, every 4 steps\), 3", told)
    assert re.search(r"; 5.9\d* in the mean\)", told)


def test_shares_add_up_to_the_time_of_the_loop(tmp_path: Path) -> None:
    seen = rollouts(tmp_path)
    seen.done()
    account = seen.answer().account
    whole = (seen.ends[-1] - seen.ends[9]) / MS
    assert account.mean * account.steps == pytest.approx(whole)
    assert sum(group.ms for group in account.groups) + account.unexplained == pytest.approx(
        account.mean
    )
    assert account.unexplained == 0


def test_a_look_stands_for_the_time_since_the_one_before(tmp_path: Path) -> None:
    """Code that lets nobody look is seen once, however long it takes."""
    seen = Watched(tmp_path, LOOP, 16)
    for _ in range(60):
        seen.spend(8, (18, "train"))
        for _ in range(4):
            seen.spend(0.5, (13, "train"), inside=LOADER)
        seen.spend(2, (14, "train"), inside=MODULE)
        seen.end_step()
    seen.done()
    assert [one.line.row for one in seen.answer().dear] == [17, 13]
    assert seen.shares() == {
        "for name, one in average.items():": 0.67, "loading": 0.17, "forward": 0.17
    }  # fmt: skip


def test_a_loader_says_what_it_waits_for(tmp_path: Path) -> None:
    waits = [*LOADER, ("/usr/lib/python3.11/multiprocessing/connection.py", 430, "_recv")]
    seen = Watched(tmp_path, LOOP, 16)
    for _ in range(60):
        seen.spend(6, (13, "train"), inside=waits)
        seen.spend(4, (14, "train"), inside=MODULE)
        seen.end_step()
    seen.done()
    assert "60% loading, mostly waiting for the loader's workers (train.py:13)" in seen.told()
    saves = "would save up to 6 ms (same bits unless samples draw random numbers)"
    assert f"Waiting for the loader's workers: more workers, or cheaper samples, {saves}" in (
        seen.told()
    )
    assert "othing is worth a change" not in seen.told()


def test_samples_that_the_loop_reads_itself_are_for_workers(tmp_path: Path) -> None:
    collate = [*LOADER, (f"{TORCH}/utils/data/_utils/collate.py", 300, "collate")]
    seen = Watched(tmp_path, LOOP, 16)
    for _ in range(60):
        seen.spend(1, (13, "train"), inside=LOADER)
        seen.spend(1, (13, "train"), inside=collate)
        seen.spend(8, (14, "train"), inside=MODULE)
        seen.end_step()
    seen.done()
    (told,) = savings(seen.answer())
    assert told.startswith("reading samples and collate: workers (`num_workers`), or ")
    assert " would save up to 2 ms " in told


MOVES = """\
def train(model, loader, optimizer):
    for x in loader:
        x = x.to("cuda")
        model(x).mean().backward()
        optimizer.step()


train(None, None, None)
"""


def test_copies_to_a_gpu_are_for_pinned_memory_and_there_alone(tmp_path: Path) -> None:
    seen = Watched(tmp_path, MOVES, 5)
    for _ in range(60):
        seen.spend(2, (3, "train"))
        seen.spend(8, (4, "train"), inside=BACKWARD)
        seen.end_step()
    seen.done()
    assert [*savings(seen.answer())] == []
    (told, *_) = savings(on_gpu(seen, 9.8))
    assert told.startswith("transfer: pinned memory (`pin_memory=True`) and `.to(device, non_")
    assert told.endswith("would save up to 0.6 ms (same bits)")


def test_a_thread_that_pins_memory_costs_what_it_takes_while_the_gpu_idles(tmp_path: Path) -> None:
    """No line shows it: while that thread runs Python code, whatever line is next waits."""
    seen = Watched(tmp_path, MOVES, 5)
    for _ in range(60):
        seen.spend(10, (4, "train"), inside=BACKWARD)
        seen.end_step()
    seen.done()
    found = on_gpu(seen, 9.8, busy=4)
    assert found.first is not None
    one = found.first.recorded
    shares = ((20, 29, 25 * MS), (30, 39, 15 * MS))
    windows = tuple(Samples(MS, first, last, (), (), ns) for first, last, ns in shares)
    rank = replace(found.first, recorded=replace(one, samples=windows))
    (told, *_) = savings(replace(found, ranks=(rank,)))
    assert told == (
        "the thread that pins memory, for which the loop's Python code waits: a small dataset that "
        "stays on the GPU would save up to 1.2 ms (same bits unless samples draw random numbers)"
    )
    on_cpu = replace(found, ranks=(replace(rank, activity=None),))
    assert not [told for told in savings(on_cpu) if "pins" in told]


@pytest.mark.parametrize(
    "call",
    [
        "x.to('cuda', non_blocking=True)",
        "x.cuda(non_blocking=True)",
        "x.to(torch.float32)",
        "x.to(dtype=torch.half)",
        "x.to(torch.bfloat16, memory_format=torch.channels_last)",
    ],
)
def test_what_does_not_wait_for_a_copy_is_not_to_be_pinned(tmp_path: Path, call: str) -> None:
    file = tmp_path / "one.py"
    file.write_text(f"import torch\nx = {call}\ny = x.to(device)\nz = x.to(device, torch.half)\n")
    assert OwnFile(file).moves == {3, 4}


def test_time_of_which_nothing_was_seen_is_unexplained(tmp_path: Path) -> None:
    seen = Watched(tmp_path, LOOP, 16)
    for step in range(60):
        seen.spend(10, (14, "train"), inside=MODULE)
        seen.now += 300 * MS * (step % 20 == 19)
        seen.end_step()
    seen.hits = [hit for hit in seen.hits if hit[0] in seen.ends]
    seen.done()
    account = seen.answer().account
    assert account.share(account.unexplained) == pytest.approx(0.66, abs=0.02)
    assert any("unexplained" in why for why in lacks(seen.answer()))
    assert "othing is worth a change" not in seen.told()


def plain(folder: Path, steps: int) -> Watched:
    seen = Watched(folder, LOOP, 16)
    for _ in range(steps):
        seen.spend(10, (14, "train"), inside=MODULE)
        seen.end_step()
    return seen


def test_few_steps_are_no_reason_to_say_that_nothing_is_worth_a_change(tmp_path: Path) -> None:
    seen = plain(tmp_path, 4)
    seen.done(seen.compiled())
    assert "but only 3 steps counted: let it make at least 20" in seen.told()
    assert "othing is worth a change" not in seen.told()


def test_what_was_neither_compiled_nor_tried_may_be_worth_a_change(tmp_path: Path) -> None:
    seen = plain(tmp_path, 60)
    seen.done()
    assert "Nothing is compiled: `--try-compile` measures" in seen.told()
    assert "othing is worth a change" not in seen.told()


def test_nothing_is_worth_a_change_where_all_is_known(tmp_path: Path) -> None:
    seen = plain(tmp_path, 60)
    seen.done(seen.compiled())
    assert "Nothing is worth a change: no line costs enough to be measured." in seen.told()


def with_line(folder: Path, *milliseconds: float) -> Watched:
    """Steps of 10 ms, some of which lines of their own take."""
    rows = "\n".join(f"        print(loss, {n})" for n, _ in enumerate(milliseconds))
    loop = "def train(model, data):\n    for x in data:\n        loss = model(x)\n"
    text = f"{loop}{rows}\n\n\ntrain(1, 2)\n"
    seen = Watched(folder, text, 3)
    for _ in range(200):
        seen.spend(10 - sum(milliseconds), (3, "train"), inside=MODULE)
        for n, ms in enumerate(milliseconds):
            seen.spend(ms, (4 + n, "train"))
        seen.end_step()
    seen.done(seen.compiled())
    return seen


def test_small_lines_without_a_better_way_are_no_change_worth_making(tmp_path: Path) -> None:
    seen = with_line(tmp_path, 0.4, 0.3)
    assert len(seen.answer().dear) == 2
    told = seen.told()
    assert "Nothing is worth a change: no line costs more than 4%, and no rule knows a" in told


@pytest.mark.parametrize("lines", [(0.7,), (0.4, 0.4, 0.4)], ids=["one is large", "they add up"])
def test_lines_that_are_not_small_are_worth_a_change(
    tmp_path: Path, lines: tuple[float, ...]
) -> None:
    seen = with_line(tmp_path, *lines)
    assert len(seen.answer().dear) == len(lines)
    told = seen.told()
    assert "othing is worth a change" not in told
    assert "no line is worth a change" not in told.lower()


def test_few_steps_are_said_beside_the_lines_that_cost_something(tmp_path: Path) -> None:
    seen = Watched(tmp_path, LOOP, 16)
    for _ in range(9):
        seen.spend(7, (14, "train"), inside=MODULE)
        seen.spend(3, (12, "train"))
        seen.end_step()
    seen.done(seen.compiled())
    assert seen.answer().dear
    assert "\nOnly 8 steps counted: let it make at least 20, or lower --warm-up.\n" in seen.told()


def test_a_limit_of_recompiles_comes_first_with_what_it_wasted(tmp_path: Path) -> None:
    seen = plain(tmp_path, 60)
    guard = f"0/7: self.n == 7  # {seen.script}:12 in masked"
    again = [
        {**seen.compiled(f"0/{n}", recompile_reason=guard), "at": seen.ends[n]} for n in range(1, 9)
    ]
    again[-1]["fail_type"] = "Unsupported"
    again[-1]["fail_reason"] = "Dynamo recompile limit exceeded\n  more"
    seen.done(seen.compiled(), *again)
    first, second = seen.told().splitlines()[1:3]
    assert first.startswith("`masked` runs eagerly since step 9: it was compiled again too often")
    assert "train.py:12 (self.n == 7); 4.5 s of compiling wasted." in first
    assert second.startswith("A step takes 10 ms")
    assert "othing is worth a change" not in seen.told()
    assert "worth nothing here" not in seen.told()


def on_gpu(seen: Watched, ceiling: float, busy: float = 7) -> Answer:
    """The answer with a GPU's kernels and the least that a step can take."""
    found = seen.answer()
    matmul = KernelClass("matmul float32 (no TF32)", 6, 40, 4, "`TF32`", "precision")
    classes = KernelClasses((matmul, KernelClass("copies", 1, 2)), 3, 42, 2, "CUDA graphs")
    activity = Activity(1, busy, 42, ())
    assert found.first is not None
    rank = replace(found.first, kernels=classes, activity=activity)
    account = account_of(rank.recorded, found.work, activity, classes)
    least = Ceiling(ceiling, "arithmetic")
    return replace(found, ranks=(rank,), account=account, ceiling=least)


def test_on_a_gpu_the_time_is_what_it_computes_and_what_the_host_does_meanwhile(
    tmp_path: Path,
) -> None:
    seen = plain(tmp_path, 60)
    seen.done(seen.compiled())
    found = on_gpu(seen, 9.8)
    shares = {group.name or group.kind: group.ms for group in found.account.groups}
    assert shares == pytest.approx({"matmul float32 (no TF32)": 6, "copies": 1, "forward": 3})
    assert found.account.unexplained == 0
    told = render(found, tmp_path)
    assert "Matmul float32 (no TF32): `TF32` would save up to 4 ms (precision)." in told
    assert "The GPU is idle for 3 ms of a step: CUDA graphs would save up to 2 ms." in told
    assert "othing is worth a change" not in told
    assert "can take on this GPU is 9.8 ms, which arithmetic sets: it takes 1.0 times" in told


def test_nothing_is_not_said_far_from_what_the_gpu_can_do(tmp_path: Path) -> None:
    seen = plain(tmp_path, 60)
    seen.done(seen.compiled())
    assert [*lacks(on_gpu(seen, 9.8))] == []
    assert [*lacks(on_gpu(seen, 2))] == [
        "the GPU is idle for 30% of a step, which takes 5.0 times the least that arithmetic allows"
    ]
    far = [
        "the GPU is idle for 30% of a step, which takes 1.4 times the least that arithmetic allows"
    ]
    assert [*lacks(on_gpu(seen, 7))] == far, "the GPU idles"
    assert [*lacks(on_gpu(seen, 7, busy=9.5))] == [], "and here it does not"


def test_nothing_is_not_said_where_runs_do_not_tell_what_compiling_brings(tmp_path: Path) -> None:
    seen = plain(tmp_path, 60)
    seen.done()
    eager, close, wide = Interval(10, 9.9, 10.1), Interval(10, 9.8, 10.1), Interval(9, 6, 12)
    tried = Tried("the model", ("train.py", 1), eager, close, 0, 0, 1.0, None, "")
    assert [*lacks(replace(seen.answer(), tried=tried))] == []
    found = replace(seen.answer(), tried=replace(tried, compiled=wide))
    assert [*lacks(found)] == ["its runs differ too much to tell what compiling brings"]
    assert "othing is worth a change" not in render(found, tmp_path)
