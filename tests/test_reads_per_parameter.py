"""Loops over parameters that read a number of each, and those that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.lint.engine import check_files

CLIP = """\
import torch

device = torch.device("cuda")


def clip_gradients(model, clip):
    norms = []
    for name, p in model.named_parameters():
        if p.grad is not None:
            {body}
    return norms
"""
READ = {
    "a norm": ("norms.append(p.grad.norm(2).item())", "`p.grad.norm(2).item()`"),
    "a norm that has a name": ("n = p.grad.norm(2); norms.append(n.item())", "`n.item()`"),
    "a test of a norm": (
        "n = p.grad.norm(2)\n            if n > clip: p.grad.mul_(clip / n)",
        "`n > clip`",
    ),
    "a test of what follows from it": (
        (
            "n = p.grad.norm(2)\n            part = clip / (n + 1e-6)\n"
            "            if part < 1: p.grad.mul_(part)"
        ),
        "`part < 1`",
    ),
}
READ["whether it is finite"] = (
    "if torch.isnan(p.grad).any(): norms.append(name)",
    "`torch.isnan(p.grad).any()`",
)
NOT_READ = {
    "whether it is finite, of another": "if torch.isnan(clip): norms.append(name)",
    "a mask that stays": "norms.append(torch.isnan(p.grad))",
    "a norm that stays": "norms.append(p.grad.norm(2))",
    "a number that is read already, elsewhere": "n = clip\n            if n > 1: norms.append(n)",
    "a name": "n = p.grad.norm(2)\n            if name == 'bias': norms.append(n)",
    "a size": "n = p.grad.numel()\n            if n > clip: norms.append(n * 1.0)",
    "only some": "n = p.grad.norm(2)\n            if name in clip: norms.append(n.item())",
}


def messages(source: str, tmp_path: Path) -> list[str]:
    path = tmp_path / "clip.py"
    path.write_text(source, encoding="utf-8")
    run = check_files([path], Config(tmp_path, select=("TCL521",)))
    return [result.diagnostic.message for result in run.results]


@pytest.mark.parametrize(("body", "told"), READ.values(), ids=READ)
def test_what_is_read_of_each_parameter_is_told(body: str, told: str, tmp_path: Path) -> None:
    [message] = messages(CLIP.format(body=body), tmp_path)
    assert message.startswith(told)
    assert "see line" not in message


@pytest.mark.parametrize("body", NOT_READ.values(), ids=NOT_READ)
def test_what_is_not_read_of_each_is_left_alone(body: str, tmp_path: Path) -> None:
    assert messages(CLIP.format(body=body), tmp_path) == []


def test_all_reads_of_a_loop_are_told_at_the_first(tmp_path: Path) -> None:
    test = "if n > clip: p.grad.mul_(clip / n)"
    body = f"n = p.grad.norm(2)\n            norms.append(n.item())\n            {test}"
    [message] = messages(CLIP.format(body=body), tmp_path)
    assert message.startswith("`n.item()`")
    assert message.endswith("; see line 12, too")
