"""What nothing says is a tensor, and compiled code uses as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Applicability, Confidence, Diagnostic
from tclint.lint.engine import check_files

from .dynamo import MEASURED, breaks

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, backbone, limits):
        super().__init__()
        self.backbone = backbone
        self.limits = limits

    def forward(self, x):
        y = self.backbone(x)
        {body}
        return y
"""
BRANCHES = [
    "if y.sum() > 0: y = y + 1",
    "if y.max(1)[0].min() > 0: y = y + 1",
    "if (y == 0).any(): y = y + 1",
    "if y.detach().norm() > 0: y = y + 1",
    "if y[:, 0].norm() > 0: y = y + 1",
    "if y[..., 1:].norm() > 0: y = y + 1",
    "if (y[:, 0] < y[:, 1]).any(): y = y + 1",
    "if y.std((0, 1), keepdim=True).isnan(): y = y + 1",
]
READS = ["n = y.item()", "n = y.tolist()", "n = y[0].item()", "n = y.argmax(-1).item()"]


def told(folder: Path, text: str) -> list[Diagnostic]:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(root=folder, settings=MEASURED)
    return [result.diagnostic for result in check_files([path], config).results]


@pytest.mark.parametrize("body", BRANCHES + READS)
def test_what_is_used_as_a_tensor_is_taken_for_one(tmp_path: Path, body: str) -> None:
    [found] = told(tmp_path, NET.format(body=body))
    assert found.confidence is Confidence.MEDIUM
    assert found.fixable is not Applicability.SAFE


@pytest.mark.slow
@pytest.mark.parametrize("body", BRANCHES + READS)
def test_dynamo_breaks_there(body: str) -> None:
    torch = pytest.importorskip("torch")
    text = (
        NET.format(body=body)
        + "\n\nnet = Net(nn.Identity(), None)\n\n\ndef f(x):\n    return net(x)\n"
    )
    assert breaks(text, torch.ones(2, 3) if body in BRANCHES else torch.ones(1, 1))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("if self.limits.max > 1: y = y + 1", id="an attribute"),
        pytest.param("y = y + (1 if self.limits.mean else 2)", id="an attribute that is tested"),
        pytest.param("y = self.limits.std(x, y)", id="a layer of that name"),
        pytest.param("y = self.limits.mean(x)", id="a layer of that name, too"),
        pytest.param("y = self.limits['a':'b']", id="a single slice"),
        pytest.param("if self.limits[0]: y = y + 1", id="an item"),
        pytest.param("if self.limits[0, 1]: y = y + 1", id="an item with two keys"),
        pytest.param("if self.limits.count(1): y = y + 1", id="a method of lists"),
        pytest.param("for k, v in self.limits.items(): y = y * v", id="a method of dicts"),
    ],
)
def test_what_others_have_too_says_nothing(tmp_path: Path, body: str) -> None:
    assert not told(tmp_path, NET.format(body=body))


def test_code_that_is_not_compiled_says_nothing(tmp_path: Path) -> None:
    text = "import torch\n\ndef count(frame):\n    return frame.values[:, 0].sum().item()\n"
    assert not told(tmp_path, text)
