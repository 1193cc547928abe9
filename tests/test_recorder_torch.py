"""The recorder beside torch: what it writes, and that nobody else can tell that it is there."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tclint.run.recorded import KINDS
from tests.recorded_runs import Ran, record

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
    ran = record(tmp_path, "\n".join(["import os, torch", *parts]))
    assert ran.err == ""
    children = [process for process in ran.processes if process[0]["forked"]]
    found = {}
    for name, process in zip(LOOPS, children, strict=True):
        steps = [line for line in process if line["kind"] == "steps"][-1]
        found[name] = (steps["marker"], len(steps["ends"]))
        assert all(one <= other for one, other in pairwise(steps["ends"]))
    assert found == {name: (marker, count) for name, (_, marker, count) in LOOPS.items()}
    assert ran.lines("note") == []
