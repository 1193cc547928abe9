"""Small scripts of different kinds, run: what is told first is what takes most of the time.

What is asserted is which line comes first, where it has many times the work of any other.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tclint.config import Config
from tclint.run.read import read_folder
from tclint.run.report.text import render
from tclint.run.session import Answer, answer
from tests.recorded_runs import record

pytestmark = pytest.mark.slow

ROWS = """
    import json
    import torch

    torch.set_num_threads(1)
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(model.parameters(), 1e-3)
    rows = [list(range(100)) for _ in range(400)]

    def some(n):
        return sum(i * i for i in range(n))

    for step in range(60):
        text = json.dumps(rows)
        small = some(300)
        loss = model(torch.ones(4, 8)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
ROLLOUT = """
    import torch

    torch.set_num_threads(1)
    policy = torch.nn.Linear(8, 2)
    optimizer = torch.optim.SGD(policy.parameters(), 1e-3)

    @torch.no_grad()
    def rollout(steps):
        states = [torch.ones(8)]
        for _ in range(steps):
            policy(states[-1])
            states.append(states[-1] + sum(i % 7 for i in range(5_000)) % 2)
        return torch.stack(states)

    def train():
        for _ in range(12):
            states = rollout(40)
            for _ in range(8):
                loss = policy(states).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()

    train()
"""
GENERATION = """
    import torch

    torch.set_num_threads(1)
    model = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(8)]).eval()

    @torch.inference_mode()
    def generate(x):
        for _ in range(30):
            x = model(x)
            words = sorted(str(n) for n in range(60_000))
        return x

    for _ in range(4):
        generate(torch.ones(2, 64))
"""
FUNCTION = """
    import torch

    @torch.compile(backend="eager")
    def double(x):
        return x * 2

    for _ in range(90):
        double(torch.ones(4))
"""
LONG_STEPS = """
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(20, 50), torch.nn.Tanh(), torch.nn.Linear(50, 1))
    x, y = torch.randn(300, 20), torch.randn(300, 1)
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=40, tolerance_change=0)

    def closure():
        optimizer.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        slow = sum(i % 7 for i in range(200_000))
        return loss

    for _ in range(4):
        optimizer.step(closure)
"""
LIMIT = """
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.seen = torch.nn.Linear(8, 8), 0.5

        def forward(self, x):
            self.seen = self.seen + 1
            return self.layer(x) * self.seen

    net = Net()
    compiled = torch.compile(net, backend="aot_eager", dynamic=False)
    optimizer = torch.optim.SGD(net.parameters(), 1e-9)
    for _ in range(60):
        loss = compiled(torch.ones(4, 8)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
BOTH = """
    import torch

    torch.set_num_threads(1)
    small, large = torch.nn.Linear(100, 100), torch.nn.Linear(400, 400)
    first = torch.optim.SGD(small.parameters(), 1e-3)
    second = torch.optim.SGD(large.parameters(), 1e-3)
    x, many = torch.ones(400, 100), torch.ones(2000, 400)

    def train():
        for _ in range(60):
            little = small(x).mean()
            first.zero_grad()
            little.backward()
            first.step()
            much = large(many).mean()
            second.zero_grad()
            much.backward()
            second.step()

    train()
"""


def answer_to(folder: Path, program: str) -> Answer:
    """Run a program with the recorder, and answer."""
    ran = record(folder, textwrap.dedent(program))
    assert (ran.status, ran.lines("note")) == (0, [])
    where = folder / "recorded"
    return answer(("python", "main.py"), None, read_folder(where), where, Config(folder))


def first_place(found: Answer, program: str) -> str:
    """The line whose group has most of the time."""
    place = found.account.groups[0].place
    assert place is not None
    return textwrap.dedent(program).splitlines()[place[1] - 1].strip()


def test_code_in_c_that_keeps_the_lock_is_not_undercounted(tmp_path: Path) -> None:
    found = answer_to(tmp_path, ROWS)
    assert first_place(found, ROWS) == "text = json.dumps(rows)"
    assert found.dear[0].line.row == found.account.groups[0].place[1]  # type: ignore[index]


def test_a_rollout_is_not_hidden_by_the_median(tmp_path: Path) -> None:
    found = answer_to(tmp_path, ROLLOUT)
    assert first_place(found, ROLLOUT) == "states = rollout(40)"
    first = found.account.groups[0]
    assert first.name == "rollout"
    assert first.every == pytest.approx(8, rel=0.5)


def test_a_loop_that_only_generates_has_steps(tmp_path: Path) -> None:
    found = answer_to(tmp_path, GENERATION)
    assert found.first is not None and found.first.recorded.steps is not None
    steps = found.first.recorded.steps
    assert (steps.marker, len(steps.ends)) == ("call", 120)
    assert first_place(found, GENERATION).startswith("words = sorted(")


def test_calls_of_a_compiled_function_are_steps(tmp_path: Path) -> None:
    found = answer_to(tmp_path, FUNCTION)
    assert found.first is not None and found.first.recorded.steps is not None
    steps = found.first.recorded.steps
    assert (steps.marker, len(steps.ends)) == ("call", 90)
    assert [entry.compile_id for entry in found.first.recorded.compiled] == ["0/0"]


def test_a_loop_that_trains_is_none_that_calls(tmp_path: Path) -> None:
    before = "for _ in range(40):\n    model(torch.ones(4, 8))\n"
    text = textwrap.dedent(ROWS).replace("for step", before + "for step")
    found = answer_to(tmp_path, text)
    assert found.first is not None and found.first.recorded.steps is not None
    steps = found.first.recorded.steps
    assert (steps.marker, len(steps.ends)) == ("optimizer.step", 60)


def test_a_few_long_steps_have_lines(tmp_path: Path) -> None:
    found = answer_to(tmp_path, LONG_STEPS)
    assert found.first is not None and found.first.recorded.steps is not None
    assert found.first.recorded.steps.marker == "optimizer.step"
    assert found.account.steps == 3
    (first, *_) = found.dear
    text = textwrap.dedent(LONG_STEPS).splitlines()[first.line.row - 1].strip()
    assert text.startswith("slow = sum(")


def test_a_limit_that_is_reached_is_told_before_all_else(tmp_path: Path) -> None:
    found = answer_to(tmp_path, LIMIT)
    told = render(found, tmp_path).splitlines()
    assert told[1].startswith("`forward` runs eagerly since step 9")
    assert "of compiling wasted" in told[1]
    assert not any("worth nothing here" in line for line in told)


def test_of_two_models_the_one_that_takes_the_time_is_told_first(tmp_path: Path) -> None:
    found = answer_to(tmp_path, BOTH)
    assert first_place(found, BOTH) in {"much.backward()", "much = large(many).mean()"}
    places = {group.place for group in found.account.groups if group.kind == "forward"}
    assert len(places) == 2
