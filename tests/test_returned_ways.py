"""A tensor that decides what is returned: `torch.where` where a reader expects it, or no fix."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs are run and compiled")

import torch

from tclint.config import Config
from tclint.diagnostics import Decline
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

from .dynamo import breaks, loaded
from .samples import one_in

HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn

CALLS = []


def seen(x):
    CALLS.append(1)
    return x * 2


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.near, self.far = nn.Linear(3, 3), nn.Linear(3, 3)


LAYERS = Layers()


def f(x: torch.Tensor, y: torch.Tensor, flag: bool = True):
"""
CHOSEN = (
    "if x.sum() > 0:\n    return x * 2\nreturn x - 1",
    "if x.sum() > 0:\n    return x * 2\nelse:\n    return x - 1",
    "if not x.sum() > 0:\n    return x * 2\nreturn x - 1",
    "if x.mean() > 0.5:\n    return F.relu(x)\nreturn F.gelu(x)",
    "if x.isnan().any():\n    return torch.zeros_like(x)\nreturn x + 1",
    "if x.isnan().any():\n    return torch.zeros_like(x)\nreturn x",
    "if (x > 0).all():\n    return torch.sqrt(x)\nreturn torch.exp(x)",
    "if x.max() > 2:\n    return x / x.max()\nreturn x",
    "if x.max() > 2:\n    return x / x.norm()\nreturn x * 1",
    "if x.sum() > 0 and x.max() < 9:\n    return -x\nreturn x + 1",
    "if x.sum() > 0 or x.max() < 9:\n    return -x\nreturn x + 1",
    "if flag and x.sum() > 0:\n    return x * 2\nreturn x - 1",
    "z = x * 3\nif z.sum() > 0:\n    return z.tanh()\nreturn z.sigmoid()",
    "z = x.float() + 1\nif z.sum() > 0:\n    return z * 2\nreturn z",
    "if y.sum() > 0:\n    return x * 2\nreturn x - 1",
    "if flag:\n    if x.sum() > 0:\n        return x * 2\n    return x - 1\nreturn y",
    "for _ in range(2):\n    x = x + 1\nif x.sum() > 0:\n    return x * 2\nreturn x - 1",
    "if x.sum() > 0:\n    return x.clamp(min=0)\nreturn x.clamp(max=0)",
    "if x.norm() > 1:\n    x = x / x.norm()\nreturn x * 2",
    "if x.sum() > 0:\n    z = x / x.norm()\nelse:\n    z = x.tanh()\nreturn z",
)
LEFT = (
    # Other shapes and dtypes, or unknown ones.
    "if x.sum() > 0:\n    return x\nreturn y",
    "if x.sum() > 0:\n    return x * y\nreturn x + y",
    "w = torch.zeros_like(x) + y\nif x.sum() > 0:\n    return w + x\nreturn w * 2",
    "if x.sum() > 0:\n    return x.sum(-1)\nreturn x",
    "if x.sum() > 0:\n    return x.long()\nreturn x",
    "if x.sum() > 0:\n    return x.half()\nreturn x.float()",
    "if x.sum() > 0:\n    return x > 0\nreturn x",
    "if x.sum() > 0:\n    return x[:1]\nreturn x",
    "if x.sum() > 0:\n    return x[x > 0]\nreturn x",
    "if x.sum() > 0:\n    return x, y\nreturn y, x",
    "if x.sum() > 0:\n    return None\nreturn x",
    "if x.sum() > 0:\n    return 1.0\nreturn 2.0",
    # What happens beside the computation.
    "if x.sum() > 0:\n    return seen(x)\nreturn x",
    "if x.sum() > 0:\n    return x.mul_(2)\nreturn x + 1",
    "if x.sum() > 0:\n    return F.relu(x, inplace=True)\nreturn x + 1",
    "if x.sum() > 0:\n    return F.dropout(x)\nreturn x + 1",
    "if x.sum() > 0:\n    return torch.rand_like(x)\nreturn x + 1",
    "if x.sum() > 0:\n    return torch.add(x, 1, out=y)\nreturn x + 1",
    "if x.sum() > 0:\n    print('positive')\n    return x * 2\nreturn x + 1",
    "if x.sum() > 0:\n    return x * 9223372036854775808\nreturn x + 1",
    "if x.sum() > 0:\n    return (z := x * 2)\nreturn x + 1",
    # An expression.
    "return x * 2 if x.sum() > 0 else x - 1",
    "return torch.ones_like(x) if x.isnan().any() else x.tanh()",
    # What costs too much to compute twice.
    "if x.sum() > 0:\n    return LAYERS.near(x)\nreturn LAYERS.far(x)",
    "if x.sum() > 0:\n    return x @ y\nreturn y @ x",
    # Something else runs between the two.
    "if x.sum() > 0:\n    return x * 2\nx = x + 1\nreturn x",
)
INPUTS = (
    (torch.full((3, 3), 0.7), torch.eye(3)),
    (-torch.arange(9.0).reshape(3, 3), torch.eye(3)),
    (torch.arange(9.0).reshape(3, 3), -torch.eye(3)),
    (torch.tensor([[1.0, float("nan"), 3.0]] * 3), torch.eye(3)),
    (torch.zeros(3, 3, dtype=torch.half), torch.eye(3).half()),
)


def _program(body: str) -> str:
    return HEAD + "".join(f"    {line}\n" for line in body.split("\n"))


def _fixed(folder: Path, text: str, *, unsafe: bool) -> str:
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    changed = fix_files([path], Config(folder, compiled=("*:f",)), unsafe=unsafe).changed
    return changed[0].after if changed else text


def _gradient(text: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor | None:
    leaf = x.clone().requires_grad_()
    loaded(text)(leaf, y).sum().backward()
    return leaf.grad


@pytest.mark.parametrize("body", one_in(3, CHOSEN))
def test_what_is_returned_is_chosen_on_the_device(body: str, tmp_path: Path) -> None:
    text = _program(body)
    after = _fixed(tmp_path, text, unsafe=True)
    assert after.count("torch.where") == 1
    assert breaks(text, *INPUTS[0])
    for x, y in INPUTS:
        before, now = (loaded(code)(x.clone(), y.clone()) for code in (text, after))
        torch.testing.assert_close(now, before, rtol=0, atol=0, equal_nan=True)
        assert now.dtype == before.dtype
        assert not breaks(after, x.clone(), y.clone())


@pytest.mark.parametrize("body", CHOSEN)
def test_a_safe_choice_keeps_gradients_and_identities(body: str, tmp_path: Path) -> None:
    text = _program(body)
    after = _fixed(tmp_path, text, unsafe=False)
    if after == text:
        return
    for x, y in INPUTS:
        before, now = (_gradient(code, x, y) for code in (text, after))
        torch.testing.assert_close(now, before, rtol=0, atol=0, equal_nan=True)
        same = [loaded(code)(x, y) is x for code in (text, after)]
        assert same[0] == same[1]


@pytest.mark.parametrize("body", LEFT)
def test_what_may_be_told_apart_is_left_with_a_reason(body: str, tmp_path: Path) -> None:
    text = _program(body)
    assert "torch.where" not in _fixed(tmp_path, text, unsafe=True)
    config = Config(tmp_path, compiled=("*:f",), weak=True)
    found = [r.diagnostic for r in check_files([tmp_path / "program.py"], config).results]
    told = [d for d in found if d.code == "TCL160"]
    assert all(isinstance(diagnostic.declined, Decline) for diagnostic in told)
    assert told


def test_what_costs_is_told_to_run_one_of_two_functions(tmp_path: Path) -> None:
    for body in LEFT[-3:-1]:
        (tmp_path / "program.py").write_text(_program(body), encoding="utf-8")
        config = Config(tmp_path, compiled=("*:f",), select=("TCL160",))
        (result,) = check_files([tmp_path / "program.py"], config).results
        assert "`torch.cond(x.sum() > 0, f, g, (x,))`" in result.diagnostic.instead
