"""A constant that a helper takes becomes a buffer where the helper only reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

import torch

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.witness import assert_kept

READING = {
    "arithmetic": "return x * weight",
    "a function of torch": "return torch.where(x > 0, weight, x)",
    "a loss": "return F.cross_entropy(x, torch.zeros(2, dtype=torch.long), weight=weight)",
    "a method": "return x + weight.sum()",
    "a comparison": "return (x > weight).float()",
    "its description": "return x.to(weight.dtype) * weight.shape[0]",
}
KEEPING = {
    "a write": "weight.add_(1)\n    return x * weight",
    "an assignment in place": "weight += 1\n    return x * weight",
    "a store": "weight[0] += 1\n    return x * weight",
    "a result": "return weight",
    "a view": "return weight.view(-1)",
    "a list": "KEPT.append(weight)\n    return x * weight",
    "rows": "for row in weight:\n        row.add_(1)\n    return x * weight",
    "another name": "same = weight\n    same.add_(1)\n    return x * weight",
    "an output": "return torch.add(x[0], 1, out=weight) * x",
    "another helper": "return change(weight) * x",
    "a closure": "return (lambda: weight.add_(1))() * x",
    "data": "weight.data += 1\n    return x * weight",
    "an array": "array = weight.numpy()\n    array += 1\n    return x * weight",
    "a name of torch's": "torch = BOX\n    return torch.add(weight, 1) * x",
}
PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn

KEPT = []


class BOX:
    add = torch.Tensor.add_


def change(tensor):
    return tensor.add_(1)


def helper(x, weight):
    {body}


class f(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        weight = torch.Tensor([0.1] * 3).to(x.device)
        result = helper(x, weight)
        KEPT[:1] and KEPT[0].add_(1)
        return result
"""


@pytest.mark.parametrize("body", READING.values(), ids=READING)
def test_a_helper_that_reads_gets_a_buffer(body: str, tmp_path: Path) -> None:
    code, config = PROGRAM.format(body=body), _config(tmp_path)
    assert_kept(code, [(torch.ones(2, 3),), (-torch.ones(2, 3),)], tmp_path, config, unsafe=True)
    (changed,) = fix_files([tmp_path / "program.py"], config, unsafe=True).changed
    assert "register_buffer" in changed.after


@pytest.mark.parametrize("body", KEEPING.values(), ids=KEEPING)
def test_a_helper_that_writes_or_keeps_gets_a_new_tensor(body: str, tmp_path: Path) -> None:
    code, config = PROGRAM.format(body=body), _config(tmp_path)
    assert_kept(code, [(torch.ones(2, 3),), (torch.ones(2, 3),)], tmp_path, config, unsafe=True)
    assert not fix_files([tmp_path / "program.py"], config, unsafe=True).changed


def _config(root: Path) -> Config:
    return Config(root=root, select=("TCL311",), compiled=("*:f.forward",))
