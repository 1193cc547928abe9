"""Losses of what a mask selects, compared with those that unsafe fixes compute for all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import torch
import torch.nn.functional as F


@torch.compile
def f(x, y):
"""
CLASSES = "x = x.reshape(-1, 4)\ny = y.argmax(-1)\nm = y > 0\n"
TOKENS = "x = x.reshape(2, -1, 4)\ny = y.reshape(2, -1, 4).argmax(-1)\nm = y > 0\n"
PAIRS = "x = x.reshape(-1, 4)\ny = y.reshape(-1, 4)\nm = y > 0\n"
LOSSES = [
    CLASSES + "return F.cross_entropy(x[m], y[m])",
    CLASSES + "return F.cross_entropy(x[m], y[m], reduction='sum', label_smoothing=0.1)",
    CLASSES + "return F.cross_entropy(x[m], y[m], torch.arange(4.0))".replace(", t", ", weight=t"),
    CLASSES + "return F.cross_entropy(x[m], y[m], ignore_index=2)",
    CLASSES + "return F.cross_entropy(x[m].contiguous(), y[m].long(), ignore_index=-1)",
    CLASSES + "return F.nll_loss(x[m], y[m])",
    TOKENS + "return F.cross_entropy(x[m], y[m])",
    PAIRS + "return F.mse_loss(x[m], y[m])",
    PAIRS + "return F.l1_loss(x[m], y[m], reduction='mean')",
    PAIRS + "return F.huber_loss(x[m], y[m], delta=0.5)",
    PAIRS + "return F.smooth_l1_loss(x[m].float(), y[m], reduction='sum', beta=0.1)",
]
OTHERS = [
    CLASSES + "return F.cross_entropy(x[m], y[~m])",
    CLASSES + "return F.cross_entropy(x[m], y[m], reduction='none')",
    CLASSES + "return F.cross_entropy(x[m], y[m].float())",
    CLASSES + "return F.cross_entropy(x[m], y[m].byte())",
    CLASSES + "y = y.byte()\nreturn F.cross_entropy(x[m], y[m])",
    CLASSES + "return F.mse_loss(x[m], y[m])",
    CLASSES + "k = y.max()\nreturn F.cross_entropy(x[m], y[m], ignore_index=k)",
    PAIRS + "return F.cross_entropy(x[m], y[m], weight=x[m])",
    PAIRS + "return F.mse_loss(x[m], y[m], None, None, 'mean')",
    PAIRS + "return F.binary_cross_entropy_with_logits(x[m], y[m])",
]


def program(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


def fixed(code: str, folder: Path) -> str:
    """The program after unsafe fixes."""
    path = folder / "program.py"
    path.write_text(code)
    changed = fix_files([path], Config(root=folder, weak=True), unsafe=True).changed
    return changed[0].after if changed else code


def loss(code: str, y: Any) -> tuple[Any, Any]:
    """The loss, and the gradient of the guess."""
    import torch

    names: dict[str, Any] = {}
    exec(code.replace("@torch.compile\n", ""), names)
    x = torch.linspace(-1, 2, 24, dtype=torch.float32).reshape(6, 4).requires_grad_()
    result = names["f"](x, y)
    result.backward()
    return result.detach(), x.grad


@pytest.mark.parametrize("body", LOSSES)
def test_the_loss_of_all_rows_is_that_of_the_selected_ones(body: str, tmp_path: Path) -> None:
    import torch

    before = program(body)
    after = fixed(before, tmp_path)
    assert "[m]" not in after
    seeded = torch.Generator().manual_seed(0)
    for y in (torch.randn(6, 4, generator=seeded), torch.zeros(6, 4)):  # the second selects none
        for one, other in zip(loss(before, y), loss(after, y), strict=True):
            torch.testing.assert_close(one, other, equal_nan=True)


@pytest.mark.parametrize("body", OTHERS)
def test_other_losses_stay(body: str, tmp_path: Path) -> None:
    assert "[m]" in fixed(program(body), tmp_path)
