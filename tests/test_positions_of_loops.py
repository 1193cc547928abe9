"""Loops over `torch.arange` count with `range` where nobody can tell a tensor from a number."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

import torch

from tclint.config import Config

from .proof.witness import assert_kept

COUNTS = (
    "torch.arange(3)",
    "torch.arange(0, 3)",
    "torch.arange(2, 0, -1)",
    "torch.arange(3, 0)",
    "torch.arange(0)",
    "torch.arange(x.shape[0] - 2)",
    "torch.arange(len(x))",
    "torch.arange(2, dtype=torch.uint8)",
    "torch.arange(0, 3, 1.0)",
    "torch.arange(3, device=x.device)",
    "torch.arange(*[3])",
)
USES = (
    "y = y + x[i]",
    "y[i] = x[i]",
    "y[i, i] = x[i, 0]",
    "row = y[i]\n        row += 1",
    "y = y + rows[i]",
    "y = y + x[i] * i",
    "y = y + table[i]",
    "last = i\n        y = y * x[last]",
    "y = y + x[i:].sum()",
    "y = y + x[[i, i]].sum()",
    "i += 0\n        y = y + x[i]",
)
PROGRAM = """\
import torch


def f(x: torch.Tensor, table={{0: 1, 1: 2, 2: 3}}):
    y, rows = x * 1, list(x)
    for i in {count}:
        {use}
    return y
"""
CALLED = [(torch.arange(9.0).reshape(3, 3),), (torch.ones(3, 3, requires_grad=True),)]


@pytest.mark.parametrize("count", COUNTS)
def test_a_loop_does_the_same(count: str, tmp_path: Path) -> None:
    config = Config(root=tmp_path, compiled=("*:f",), select=("TCL106",))
    for use in USES:
        assert_kept(PROGRAM.format(count=count, use=use), CALLED, tmp_path, config)
