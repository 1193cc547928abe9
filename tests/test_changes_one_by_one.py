"""Loops over parameters that change each of them alone, and those that do more or less."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

STEP = """\
import torch


def train(model, copies, optimizer, batches, scale, group):
    for x in batches:
        model(x).sum().backward()
{loop}
        optimizer.step()
"""
CHANGED = {
    "zeros": "for p in model.parameters(): p.grad.zero_()",
    "zeros of the data": "for p in model.parameters(): p.grad.data.zero_()",
    "zeros, where there are gradients": (
        "for p in model.parameters():\n    if p.grad is not None: p.grad.zero_()"
    ),
    "copies": "for a, p in zip(copies, model.parameters()): a.copy_(p.detach())",
    "scaled": "for p in model.parameters(): p.grad.mul_(1.0 / scale)",
    "divided": "for p in model.parameters(): p.grad /= scale",
    "a step by hand": "for p in model.parameters(): p.data.add_(p.grad, alpha=-0.1)",
    "within bounds": "for p in model.parameters(): p.data.clamp_(-0.01, 0.01)",
    "a step by hand, with an operator": (
        "with torch.no_grad():\n    for p in model.parameters(): p -= scale * p.grad"
    ),
    "below a context": (
        "with torch.no_grad():\n    for p in model.parameters(): p.add_(p.grad, alpha=-1)"
    ),
}
NOT_CHANGED = {
    "a collective": (
        "for p in model.parameters():\n    group.all_reduce(p.grad)\n    p.grad /= scale"
    ),
    "an own value for each": "for p in model.parameters(): p.grad.mul_(p.grad.norm())",
    "two operations": "for p in model.parameters():\n    p.grad.mul_(scale)\n    p.data.zero_()",
    "another object": "for p in model.parameters(): scale.add_(1)",
    "dropped": "for p in model.parameters(): p.grad = None",
    "a number that shrinks": "n = 0\nfor p in model.parameters(): n -= p.numel()",
    "a number": "n = 0\nfor p in model.parameters(): n += p.numel()",
    "of rows": "for row in x: row.mul_(scale)",
    "seldom": "if len(x) % 100 == 0:\n    for p in model.parameters(): p.grad.zero_()",
    "moved": "for a, p in zip(copies, model.parameters()): a.copy_(p.to('cpu'))",
}


def indented(loop: str) -> str:
    return "\n".join(f"        {line}" for line in loop.splitlines())


def codes(source: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "train.py"
    path.write_text(source, encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL520", "TCL522")))
    return [result.diagnostic.code for result in run.results]


@pytest.mark.parametrize("loop", CHANGED.values(), ids=CHANGED)
def test_a_kernel_for_each_parameter_is_found(loop: str, tmp_path: Path) -> None:
    assert codes(STEP.format(loop=indented(loop)), tmp_path) == ["TCL522"]


@pytest.mark.parametrize("loop", NOT_CHANGED.values(), ids=NOT_CHANGED)
def test_what_cannot_be_done_at_once_is_left_alone(loop: str, tmp_path: Path) -> None:
    assert codes(STEP.format(loop=indented(loop)), tmp_path) == []


def test_an_average_is_another_rule_s(tmp_path: Path) -> None:
    loop = "for a, p in zip(copies, model.parameters()): a.mul_(0.9).add_(p, alpha=0.1)"
    assert codes(STEP.format(loop=indented(loop)), tmp_path) == ["TCL520"]


def test_a_loop_outside_of_steps_counts_where_its_name_says_so(tmp_path: Path) -> None:
    source = (
        "import torch\n\n\ndef {name}(model):\n    for p in model.parameters(): p.grad.zero_()\n"
    )
    assert codes(source.format(name="zero_grad"), tmp_path) == ["TCL522"]
    assert codes(source.format(name="initialize"), tmp_path) == []


def test_gradients_that_are_filled_with_zeros_are_dropped(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    loop = (
        "for p in model.parameters():\n    if p.grad is not None:\n"
        "        p.grad.detach_()\n        p.grad.zero_()"
    )
    path.write_text(STEP.format(loop=indented(loop)), encoding="utf-8")
    [changed] = fix_files([path], Config(tmp_path, select=("TCL522",)), unsafe=True).changed
    dropped = loop.replace(
        "        p.grad.detach_()\n        p.grad.zero_()", "        p.grad = None"
    )
    assert changed.after == STEP.format(loop=indented(dropped))
