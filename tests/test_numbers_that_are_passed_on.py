"""Numbers that reach their user by several functions of a file, and objects that hold tensors."""

from __future__ import annotations

from pathlib import Path

import pytest

from .proof.fixing import fixed


@pytest.mark.parametrize("use", ["round(n)", "[1, 2, 3][n]", "'%d' % n", "range(n)"])
def test_a_number_that_a_caller_of_a_caller_needs_stays_one(tmp_path: Path, use: str) -> None:
    source = f"""\
import torch


def read(t):
    return t.sum().item()


def hand_on(t):
    return read(t)


@torch.compile
def f(x: torch.Tensor):
    def get():
        return hand_on(x)
    n = get()
    return x, {use}
"""
    assert "detach" not in fixed(source, tmp_path, unsafe=True)


def test_a_tensor_that_an_object_holds_is_still_written_by_it(tmp_path: Path) -> None:
    source = """\
import torch


class Slots:
    def __init__(self, held):
        self.held = held


@torch.compile
def f(x: torch.Tensor):
    h = x.cumsum(0)
    other = Slots(h).held
    if (h > 2).any():
        h = torch.clamp(h, max=2)
    other.__setitem__(0, 4)
    return h
"""
    assert fixed(source, tmp_path, unsafe=True) == source


def test_a_guard_before_a_write_into_a_parameter_stays(tmp_path: Path) -> None:
    source = """\
import torch
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor):
        if x.bool().any():
            self.w[x.bool()] = 0.5
        return x


m = torch.compile(M())
"""
    assert fixed(source, tmp_path, unsafe=True) == source


def test_a_default_does_not_make_a_parameter_an_integer(tmp_path: Path) -> None:
    source = """\
import numpy as np
import torch


@torch.compile
def f(x: torch.Tensor, steps=1):
    for k in np.arange(steps):
        x = x * k
    return x
"""
    assert fixed(source, tmp_path) == source
    assert "range(steps)" in fixed(source, tmp_path, unsafe=True)
    assert " range(steps)" in fixed(source.replace("steps=1", "steps: int = 1"), tmp_path)
