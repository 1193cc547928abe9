"""Counters, tensors built on the first call, constants: as buffers they change no result."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tclint.config import Config

from .proof.witness import assert_kept

STARTS = (
    "self.n = 0",
    "self.n = 0",
    "self.n = -1",
    "self.n = start",
    "self.n = True",
    "self.n: int = 0",
    "self.n = self.m = 0",
    "pass",
    "self.n = 0\n        self.twice = self.n * 2",
    "self.n = 2**40",
    'self.n = 0\n        self.names = ["n"]',
)
COUNTS = (
    "self.n += 1",
    "self.n = self.n + 1",
    "self.n -= 1",
    "self.n += 2",
    "self.n += x.shape[0]",
    "self.n += self.step",
    "if self.training: self.n += 1",
    "self.n = self.n + self.n",
    "self.n += 0.5",
    "x = x + self.n; self.n += 1",
    "self.n += 1; y = self.n",
    "self.n = 1 + self.n",
)
USES = (
    "x = x * self.n",
    "x = x.float() / self.n",
    "x = x[: self.n]",
    "x = x if self.n > 2 else -x",
    "pass",
    "x = x.add(self.n)",
    "x = x + math.sqrt(abs(self.n))",
    "x = x ** self.n",
    "x = (x, self.n)",
    "self.log.append(self.n)",
    "x = torch.where(x > 0, x, self.n)",
    "x = x.double() * self.n / 3",
    "x = x.to(torch.uint8) + self.n",
    "x = x == self.n",
    'x = x + len(f"{self.n}")',
    "x = x % (self.n + 2)",
    "x = x * (self.n // 2)",
    "self.last = self.n",
    "x = x * self.twice",
)
EMPTY = (
    "self.c = None",
    "self.c = None",
    "pass",
    "self.c = None\n        self.d = 1",
    "self.c = self.d = None",
)
GUARDS = ("if self.c is None:", 'if not hasattr(self, "c"):', "if self.c is None or self.training:")
MADE = (
    "torch.ones(3)",
    "torch.arange(self.size)",
    "torch.tril(torch.ones(3, 3, device=x.device))",
    "x * 1",
    "torch.rand(3)",
    "torch.ones(3, dtype=x.dtype)",
    "torch.full((3,), self.scale)",
    "torch.tensor([1.0, 2.0, 3.0])",
    "torch.zeros(x.shape[-1])",
    "torch.ones(3, device=x.device).cumsum(0)",
    "torch.eye(self.size, requires_grad=True)",
)
KEPT = (
    "x = x * self.c",
    "x = x + self.c.sum()",
    "self.c = self.c + 1; x = x * self.c",
    "self.c.add_(1); x = x + self.c[0]",
    "x = self.c",
    "self.c = None",
    "x = x * self.c.to(x.dtype)",
    "pass",
)
CONSTANTS = (
    "x = x * torch.tensor([1.0, 2.0, 3.0], device=x.device)",
    "w = torch.tensor([0, 1, 2], device=x.device)\n        x = x[..., w]",
    "w = torch.tensor([1.0, 0.5, 2.0]).to(x.device); w.mul_(2); x = x * w",
    "w = torch.tensor(self.sizes, device=x.device)\n        x = x + w.sum()",
    "w = torch.Tensor([1, 2, 3]).to(x.device)\n        x = w",
    "w = torch.tensor([1, 2, 3], dtype=x.dtype, device=x.device)\n        x = x / w",
    "v = w = torch.tensor([1.0, 2.0, 3.0], device=x.device)\n        v += 1\n        x = x * w",
    "pass",
    "for w in torch.tensor([1.0, 2.0], device=x.device): x = x * w",
    "x = x + torch.tensor([True, False, True], device=x.device)",
)
PROGRAM = """\
import math

import torch
from torch import nn


class f(nn.Module):
    {level}

    def __init__(self, start=0):
        super().__init__()
        self.step, self.size, self.scale, self.sizes, self.log = 1, 3, 0.5, [1, 2, 3], []
        {start}
        {empty}

    {other}

    def forward(self, x):
        {lines}
        return x, [*self.state_dict()]
"""
LEVELS = ("pass", "pass", "n = 0", "c = None", '"""n"""')
OTHERS = (
    "",
    "",
    "def reset(self):\n        self.n = 0",
    "def train(self, mode=True):\n        self.c = None\n        return super().train(mode)",
    "def extra_repr(self):\n        return str(self.n)",
    "@property\n    def count(self):\n        return getattr(self, 'n', 0)",
)
CALLED = [
    (torch.ones(3, 3),),
    (torch.rand(3),),
    (torch.rand(2, 3, dtype=torch.float64),),
    (torch.arange(3),),
    (torch.rand(3, requires_grad=True),),
    (torch.rand(3, dtype=torch.float16),),
    (torch.ones(0, 3),),
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A module that keeps a number or a tensor from call to call."""
    one = st.sampled_from
    lines = []
    if draw(st.booleans()):
        lines += [draw(one(COUNTS)), draw(one(USES))]
    if draw(st.booleans()):
        lines += [f"{draw(one(GUARDS))}\n            self.c = {draw(one(MADE))}", draw(one(KEPT))]
    lines.append(draw(one(CONSTANTS)))
    lines = draw(st.permutations(lines)) if draw(st.booleans()) else lines
    return PROGRAM.format(
        level=draw(one(LEVELS)),
        start=draw(one(STARTS)),
        empty=draw(one(EMPTY)),
        other=draw(one(OTHERS)),
        lines="\n        ".join(lines),
    )


def check(code: str, root: Path) -> None:
    """Fix the program, also unsafely, and run it before and after."""
    config = Config(root=root, select=("TCL22", "TCL31"), compiled=("*:f.forward",))
    assert_kept(code, CALLED, root, config, unsafe=True)


@pytest.mark.slow
@pytest.mark.sample_of("test_results_and_saved_state_stay_the_same_in_many_programs")
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_results_and_saved_state_stay_the_same(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)


@pytest.mark.exhaustive
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_results_and_saved_state_stay_the_same_in_many_programs(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)
