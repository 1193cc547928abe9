"""Reads that a caller does for the module it calls: eager code does the same, bit for bit."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("hypothesis", reason="property tests draw random programs")
pytest.importorskip("torch", reason="the programs run torch")

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.witness import assert_kept

HOISTED = "Read it in the caller"
PARAMETERS = (
    "self, hidden, mask=None, scale=1.0",
    "self, hidden, mask",
    "self, hidden, mask, n=None",
    "self, hidden, mask=(None)",
    "self, hidden, mask: torch.Tensor = None, scale: float = (1.0)",
    "\n        self,\n        hidden,\n        mask=None,  # the mask\n    ",
    "self, hidden, mask, *, scale=1.0",
    "self, hidden, mask, **rest",
    "self, hidden, mask, /",
)
DECORATORS = ("", "", "", "@torch.no_grad()", "@checked", "@staticmethod")
BEFORE = (
    '"""Encode."""',
    "masked = mask > 0",
    "masked = mask.abs()",
    "masked = -mask",
    "masked = mask.add_(1)",
    "masked = torch.rand_like(mask)",
    "hidden = hidden * 2",
    "mask = mask + 1",
    "global n",
    "masked = mask; hidden = hidden + 1",
)
READS = (
    "mask.sum().item()",
    "masked.any().item()",
    "mask.flatten().max().item()",
    "mask.add_(1).sum().item()",
    "torch.rand_like(mask).sum().item()",
    "(mask @ masked).sum().item()",
    "hidden.mul_(2).max().item()",
    "[m.sum() for m in masked][0].item()",
    "mask.sum().tolist()",
    "self.linear(mask).sum().item()",
    "(lambda masked: masked.sum())(mask).item()",
    "(seen := mask).sum().item()",
    "F.relu(mask).sum().item()",
    "mask.normal_().sum().item()",
)
NAMES = ("n", "n", "count", "__n", "mask")
USES = (
    "return hidden * {n}",
    "return hidden + mask if {n} else hidden",
    "yield hidden",
    "return hidden.masked_fill(mask > 0, 0.0) if {n} > 1 else hidden",
    "return mask * {n}",
)
CALLS = (
    "y = self.encoder(x, mask)",
    "y = self.encoder(x, mask=negative)",
    "return self.encoder(x, mask)",
    "y = self.encoder(mask=mask, hidden=x)",
    "y = self.encoder(x, mask, **options)",
    "y = self.encoder(x, mask); z = self.encoder(y, negative)",
    "if x.ndim: y = self.encoder(x, mask)",
    "y = self.encoder(x, None)",
    "mask = self.encoder(mask, mask)",
    "y = self.encoder(x)",
    "try:\n            y = self.encoder(x, mask)\n        except TypeError as e: y = str(e)",
    "y = (lambda n: self.encoder(x, mask))(1)",
    "n = 5\n        y = self.encoder(x, mask) + n",
    "torch = self.encoder\n        y = self.encoder(x, mask)",
    "y = self.encoder.forward(x, mask)",
)
HOLDERS = (
    "self.encoder = Encoder()",
    "self.encoder = Encoder()",
    "self.encoder = Encoder()",
    "self.encoder = Encoder() if True else Other()",
    "self.encoder: Encoder = Encoder()",
    "self.encoder = nn.Sequential(Encoder())",
    'setattr(self, "encoder", Encoder())',
)
BIG = "class Big(Model):\n    def __init__(self):\n        super().__init__()\n        "
REST = (
    "",
    "",
    "class Small(Encoder):\n    def forward(self, hidden, mask):\n        return hidden\n",
    BIG + "self.encoder = Other()\n",
    BIG + "self.add_module('encoder', Other())\n",
)
PROGRAM = """\
import torch
import torch.nn.functional as F
from torch import nn

n = 7


def checked(function):
    def inner(self, hidden, mask=None):
        return function(self, hidden, mask)

    return inner


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    {decorator}
    def forward({parameters}):
        {before}
        {name} = {read}
        {use}


class Other(nn.Module):
    def forward(self, hidden, mask=None):
        return hidden


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        {holder}

    def forward(self, x, mask):
        negative, options = -mask, {{}}
        y = x
        {call}
        return y


{rest}

f = {model}
"""
CALLED = [
    (torch.ones(2, 3), torch.ones(2, 3)),
    (torch.ones(2, 3, requires_grad=True), -torch.ones(2, 3)),
    (torch.rand(3, 3), torch.rand(3, 3, requires_grad=True)),
    (torch.ones(0, 3), torch.ones(0, 3)),
    (torch.ones(2, 3), torch.full((2, 3), float("nan"))),
    (torch.ones(3, 3), torch.arange(9).reshape(3, 3)),
]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A module that reads at the top of its ``forward``, and another one that calls it."""
    one = st.sampled_from
    rest = draw(one(REST))
    before = draw(st.lists(one(BEFORE), max_size=2))
    name = draw(one(NAMES))
    models = ["Model", "Big"] if "class Big" in rest else ["Model"]
    return PROGRAM.format(
        decorator=draw(one(DECORATORS)),
        parameters=draw(one(PARAMETERS)),
        before="\n        ".join(before) or "pass",
        name=name,
        read=draw(one(READS)),
        use=draw(one(USES)).format(n=name),
        holder=draw(one(HOLDERS)),
        call=draw(one(CALLS)),
        rest=rest,
        model=draw(one(models)),
    )


def check(code: str, root: Path) -> None:
    """Fix the program, and run it before and after, where nothing else is fixed."""
    config = Config(root=root, select=("TCL101",))
    path = root / "program.py"
    path.write_text(code, encoding="utf-8")
    fixes = [fix for file in fix_files([path], config, unsafe=True).changed for fix in file.fixes]
    if all(fix.message.startswith(HOISTED) for fix in fixes):
        assert_kept(code, CALLED, root, config, unsafe=True)


@pytest.mark.sample_of("test_eager_code_stays_the_same_in_more_programs")
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_eager_code_stays_the_same(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)


@pytest.mark.slow
@pytest.mark.sample_of("test_eager_code_stays_the_same_in_many_programs")
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_eager_code_stays_the_same_in_more_programs(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)


@pytest.mark.exhaustive
@settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_eager_code_stays_the_same_in_many_programs(code: str, tmp_path: Path) -> None:
    check(code, tmp_path)
