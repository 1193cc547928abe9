"""Learning rates that become tensors: an integer makes a float tensor, what is written stays."""

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


SCHEDULED = (
    CODE.replace("        adjust(optimizer, step)\n", "")
    .replace(
        "optimizer = make(model)\n",
        "optimizer = make(model)\n"
        "    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)\n",
    )
    .replace("        optimizer.zero", "        scheduler.step()\n        optimizer.zero")
)


@pytest.mark.parametrize("rate", ["0.5", "1"])
def test_a_rate_under_a_scheduler_becomes_a_float_tensor(rate: str, tmp_path: Path) -> None:
    before = SCHEDULED.replace("lr=0.5", f"lr={rate}")
    after = fix(before, tmp_path)
    assert f"lr=torch.tensor({float(rate)})" in after
    (weights, _), (others, graphs) = trained(before), trained(after)
    torch.testing.assert_close(weights, others)
    assert graphs == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("model.parameters()", "[{'params': [model.weight]}, {'params': [model.bias]}]"),
        ("model.parameters()", "model.groups()"),
        ("lr=0.5", "lr=len([model])"),
        ("lr=0.5", ""),
    ],
)
def test_rates_that_a_tensor_would_not_do_for_are_left(old: str, new: str, tmp_path: Path) -> None:
    before = SCHEDULED.replace(old, new)
    assert before != SCHEDULED
    assert fix(before, tmp_path) == before


def test_a_rate_that_a_function_writes_is_left(tmp_path: Path) -> None:
    assert fix(CODE, tmp_path) == CODE
