"""Learning rates that functions write into groups: the tensor is filled, and compiled once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from .proof.fixing import fixed

CODE = """\
import torch
from torch import nn


def make(model):
    return torch.optim.SGD(model.parameters(), lr=0.5)


def adjust(optimizer, step):
    for group in optimizer.param_groups:
        group["lr"] = 0.5 * 0.5**step


def train(model: nn.Module, steps: int):
    optimizer = make(model)

    @torch.compile(backend=BACKEND)
    def update():
        optimizer.step()

    for step in range(steps):
        adjust(optimizer, step)
        model(torch.ones(2, 3)).sum().backward()
        update()
        optimizer.zero_grad()
    return optimizer
"""
WRITE = '        group["lr"] = 0.5 * 0.5**step\n'


def fix(code: str, folder: Path) -> str:
    after = fixed(code, folder, unsafe=True, select=("TCL501",))
    assert fixed(code, folder, select=("TCL501",)) == code
    return after


def trained(code: str, call: str = "train(model, 3)") -> tuple[torch.Tensor, int]:
    graphs: list[object] = []

    def backend(graph: Any, _: object) -> Any:
        graphs.append(graph)
        return graph.forward

    torch._dynamo.reset()
    names: dict[str, Any] = {"BACKEND": backend}
    exec(code, names)
    torch.manual_seed(0)
    names["model"] = torch.nn.Linear(3, 3)
    eval(call, names)
    return names["model"].weight.detach(), len(graphs)


@pytest.mark.parametrize(
    "write",
    [
        WRITE,
        '        group["lr"] = group["lr"] * 0.5\n',
        '        group["lr"] *= 0.5\n',
        '        if step > 0:\n            group["lr"] = 0.25\n',
    ],
)
def test_a_rate_that_another_function_writes_is_filled(write: str, tmp_path: Path) -> None:
    before = CODE.replace(WRITE, write)
    after = fix(before, tmp_path)
    assert "lr=torch.tensor(0.5)" in after
    if "*=" not in write:
        assert 'if isinstance(group["lr"], torch.Tensor):' in after
    weights, _ = trained(before)
    others, graphs = trained(after)
    torch.testing.assert_close(weights, others)
    assert graphs == 1
    assert fix(after, tmp_path) == after


def test_another_optimizer_of_the_same_function_keeps_its_floats(tmp_path: Path) -> None:
    eager = (
        "\n\ndef other(model: nn.Module):\n"
        "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    adjust(optimizer, 1)\n    model(torch.ones(2, 3)).sum().backward()\n"
        "    optimizer.step()\n    assert isinstance(optimizer.param_groups[0]['lr'], float)\n"
    ).replace("    assert isinstance(optimizer.param_groups[0]['lr'], float)\n", "")
    after = fix(CODE + eager, tmp_path)
    assert "lr=0.1" in after
    weights, _ = trained(CODE + eager, "other(model)")
    others, _ = trained(after, "other(model)")
    assert torch.equal(weights, others)


def test_two_optimizers_share_the_function_that_writes(tmp_path: Path) -> None:
    again = CODE[CODE.index("def train") :].replace("def train", "def again")
    again = again.replace("make(model)", "torch.optim.AdamW(model.parameters(), lr=0.1)")
    after = fix(CODE + "\n\n" + again, tmp_path)
    assert after.count("torch.tensor(") == 2
    assert after.count("isinstance(") == 1
    for name in ("train", "again"):
        weights, _ = trained(CODE + "\n\n" + again, f"{name}(model, 3)")
        others, graphs = trained(after, f"{name}(model, 3)")
        torch.testing.assert_close(weights, others)
        assert graphs == 1


def test_what_is_certainly_this_optimizer_is_filled_at_once(tmp_path: Path) -> None:
    loop = (
        '        for group in optimizer.param_groups:\n            group["lr"] = 0.5 / (step + 1)\n'
    )
    before = CODE.replace("        adjust(optimizer, step)\n", loop)
    before = before.replace("= make(model)", "= torch.optim.SGD(model.parameters(), lr=0.5)")
    after = fix(before, tmp_path)
    assert 'group["lr"].fill_(0.5 / (step + 1))' in after
    assert "isinstance" not in after
    torch.testing.assert_close(trained(before)[0], trained(after)[0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model.parameters()", "[{'params': [model.weight]}, {'params': [model.bias]}]"),
        ("model.parameters()", "model.groups()"),
        ("    return optimizer\n", "    optimizer.add_param_group({'params': []})\n"),
        ("    return optimizer\n", "    print(optimizer.param_groups[0]['lr'])\n"),
        ("0.5 * 0.5**step", "max(group['lr'], 0.1)"),
        ("0.5 * 0.5**step", "rate = 0.5 * 0.5**step"),
        ("def adjust(optimizer, step)", "def adjust(optimizer, step, torch=None)"),
        ("def adjust(optimizer, step)", "def adjust(optimizer, step, isinstance=None)"),
        ("lr=0.5", "lr=len([model])"),
        ("lr=0.5", ""),
    ],
)
def test_rates_that_a_tensor_would_not_do_for_are_left(old: str, new: str, tmp_path: Path) -> None:
    before = CODE.replace(old, new)
    assert before != CODE
    assert fix(before, tmp_path) == before


def test_an_integer_rate_becomes_a_float_tensor(tmp_path: Path) -> None:
    before = CODE.replace("lr=0.5", "lr=1")
    after = fix(before, tmp_path)
    assert "lr=torch.tensor(1.0)" in after
    torch.testing.assert_close(trained(before)[0], trained(after)[0])


def test_an_integer_rate_under_a_scheduler_becomes_a_float_tensor(tmp_path: Path) -> None:
    scheduler = "    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)\n"
    before = CODE.replace("lr=0.5", "lr=1").replace("        adjust(optimizer, step)\n", "")
    before = before.replace("optimizer = make(model)\n", f"optimizer = make(model)\n{scheduler}")
    before = before.replace(
        "        optimizer.zero", "        scheduler.step()\n        optimizer.zero"
    )
    after = fix(before, tmp_path)
    assert "lr=torch.tensor(1.0)" in after
    torch.testing.assert_close(trained(before)[0], trained(after)[0])
