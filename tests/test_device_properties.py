"""Tensors made on their device at once: the same bits, dtypes and exceptions on the CPU."""

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

NUMBERS = (
    "0",
    "1",
    "-1",
    "2.5",
    "-0.0",
    "True",
    "300",
    "70000.0",
    "1e30",
    "float('nan')",
    "n",
    "0.1",
    "1e-8",
    "x.shape[0]",
    "-129",
    "65504",
    "math.inf",
    "3.4e38",
    "1 / 3",
    "2**63",
    "9223372036854775808",
    "-(1 << 70)",
)
DTYPES = (
    "",
    "",
    "",
    ", dtype=torch.float16",
    ", dtype=torch.bool",
    ", dtype=torch.uint8",
    ", dtype=torch.int32",
    ", dtype=torch.bfloat16",
    ", dtype=x.dtype",
    ", dtype=torch.float64",
    ", dtype=torch.complex64",
    ", dtype=None",
    ", dtype=torch.int8",
)
FACTORIES = (
    "torch.tensor({n}{d})",
    "torch.tensor([{n}]{d})",
    "torch.tensor(({n},){d})",
    "torch.zeros(2, 3{d})",
    "torch.ones(x.shape{d})",
    "torch.full((3,), {n}{d})",
    "torch.arange({n}{d})",
    "torch.eye(3{d})",
    "torch.arange(0, {n}, 2{d})",
    "torch.empty(0, 3{d})",
    "torch.zeros((2, 3){d})",
    "torch.scalar_tensor({n}{d})",
    "torch.tril_indices(3, 3)",
    "torch.Tensor([{n}])",
    "torch.LongTensor([{n}])",
    "torch.tensor([{n}, 1]{d})",
    "torch.zeros(x.shape[0], requires_grad=True)",
    "torch.zeros({n}{d})",
    "torch.tensor(data={n}{d})",
    "torch.tensor({n}{d}).unsqueeze(0)",
    "torch.ones(3{d}).view(-1, 1).float()",
    "torch.linspace(0, 1, 3{d})",
    "torch.arange(3{d}).bool().expand(2, 3)",
    "torch.tensor({n}{d}, requires_grad=False)",
    "torch.ones_like(x)",
)
MOVES = (
    "{f}.to(x.device)",
    "{f}.to(device=x.device)",
    "{f}.to(x)",
    "{f}.to(x.device, x.dtype)",
    "{f}.to(device)",
    "{f}.to(x.device, dtype=torch.float16)",
    "{f}.to(other=x)",
    "{f}.to('cpu')",
    "{f}.to(x.device, copy=True)",
    "{f}.to(x.device).to(x.dtype)",
    "{f}.to(x.dtype).to(x.device)",
    "{f}.to(\n        x.device,  # there\n    )",
    "{f}.to(x.device, non_blocking=True)",
    "{f}.type_as(x).to(x.device)",
    "{f}.to(x.device, torch.uint8)",
    "{f}.to(None)",
    "{f}.to(x.get_device() if False else x.device)",
    "{f}.to(a.device).long()",
    "{f}.to(dev)",
    "{f}.to(place)",
    "{f}.to(BOX.device)",
)
PROGRAM = """\
import math

import torch
from torch import nn


class BOX:
    device = torch.float64


def f(x{annotation}, n{kind} = 2, device=torch.device("cpu"), place{declared}=None):
    a, dev = x, device
    {lines}
    return t, t.dtype, t.stride(), x
"""
CALLED = [
    (torch.rand(2, 3),),
    (torch.rand(3, 3, requires_grad=True), 0.1),
    (torch.arange(3), 1),
    (torch.rand(4, dtype=torch.float16), True),
    (torch.rand(2, 3, dtype=torch.float64).bool(), 3),
    (torch.rand(0, 3), -2),
    (torch.rand(2, 3), 2, None, None),
    (torch.rand(2, 3), 2, "cpu", "cpu"),
]
ANYTHING = [
    *CALLED,
    (torch.rand(2, 3), 2, torch.float64, torch.float64),
    (torch.rand(2, 3), 2, torch.ones(1, dtype=torch.float64), torch.ones(1, dtype=torch.int32)),
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A function that makes a tensor and moves it, or is told the device."""
    one = st.sampled_from
    factory = draw(one(FACTORIES)).format(n=draw(one(NUMBERS)), d=draw(one(DTYPES)))
    if ")." in factory or draw(st.booleans()):
        made = draw(one(MOVES)).format(f=factory)
    else:
        made = factory[::-1].replace(")", ")ecived.x=ecived ,", 1)[::-1]
    lines = [f"t = {made}"]
    lines += [draw(one(["t = t + x.sum()", "t.add_(1)", "t = -t", "t = a * t.float().mean()"]))]
    return PROGRAM.format(
        annotation=draw(one(["", ": torch.Tensor"])),
        kind=draw(one(["", ": int", ": float"])),
        declared=draw(one(["", ": torch.device | str | None"])),
        lines="\n    ".join(lines[: draw(st.integers(1, 2))]),
    )


def check(code: str, root: Path) -> None:
    """Fix the program, and run it before and after."""
    config = Config(root=root, select=("TCL31",), compiled=("*:f",))
    assert_kept(code, CALLED if ": torch.device" in code else ANYTHING, root, config)


@pytest.mark.sample_of("test_eager_code_stays_the_same_in_many_programs")
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_eager_code_stays_the_same(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)


@pytest.mark.exhaustive
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_eager_code_stays_the_same_in_many_programs(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)
