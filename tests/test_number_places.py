"""A number that stays where it was read meets what is on the same device, or the fix says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Applicability, Change
from tclint.lint.engine import check_files

_HEAD = "import torch\nfrom torch import nn\n\nTABLE = torch.ones(3)\n\n"
_TWO = "def f(x: torch.Tensor, y: torch.Tensor, device, flag: bool):\n"
_N = "    n = x.float().max().item()\n"
_APART = {
    "two parameters": _TWO + _N + "    return y.float() * n",
    "a sum": _TWO + _N + "    return y.float() + n",
    "a comparison": _TWO + _N + "    return y.float() > n",
    "of the CPU": _TWO + _N + "    return x.float().abs().cpu() * n",
    "moved to the CPU": _TWO + _N + "    return x.float().to('cpu').sum() * n",
    "moved by a keyword": _TWO + _N + "    return x.to(device=device, dtype=torch.float32) * n",
    "moved to a parameter": _TWO + _N + "    return x.float().to(device) * n",
    "moved to a GPU": _TWO + _N + "    return x.float().cuda(1) * n",
    "moved to another": _TWO + _N + "    return x.float().to(y.device) * n",
    "moved like another": _TWO + _N + "    return x.to(y).float() * n",
    "with its type": _TWO + _N + "    return x.type_as(y).float() * n",
    "pinned": _TWO + _N + "    return x.float().pin_memory() * n",
    "made anew": _TWO + _N + "    return torch.ones(3) * n",
    "made on another": _TWO + _N + "    return torch.ones(3, device=y.device) * n",
    "made like another": _TWO + _N + "    return torch.ones_like(y.float()) * n",
    "made by one, elsewhere": _TWO + _N + "    return x.float().new_ones(3, device='cpu') * n",
    "a method": _TWO + _N + "    return y.float().mul(n)",
    "a function": _TWO + _N + "    return torch.mul(y.float(), n)",
    "a method in place": _TWO + _N + "    return y.float().mul_(n)",
    "in place": _TWO + _N + "    z = y.float()\n    z += n\n    return z",
    "a bound": _TWO + _N + "    return y.float().clamp(max=n)",
    "filled": _TWO + _N + "    return y.float().masked_fill(y > 0, n)",
    "chosen": _TWO + _N + "    return torch.where(y > 0, y.float(), n)",
    "chosen by another": _TWO + _N + "    return torch.where(y > 0, x.float(), n)",
    "written": _TWO + _N + "    z = y.float()\n    z[0] = n\n    return z",
    "a row": _TWO + "    return y[x[0].argmax().item()] * 2",
    "a slice": (
        _TWO
        + "    n = (x > 0).sum().item()\n    z = y.reshape(-1) * 2\n    z[:n] = 0\n    return z"
    ),
    "one of two": _TWO + _N + "    return (x if flag else y).float() * n",
    "moved in between": _TWO + _N + "    x = x.to(device)\n    return x.float() * n",
    "moved on some ways": (
        _TWO + _N + "    if flag:\n        x = x.cpu()\n    return x.float() * n"
    ),
    "moved where it lies": _TWO + _N + "    x.data = x.data.cpu()\n    return x.float() * n",
    "two numbers": _TWO + _N + "    return x.float() * (n + y.float().max().item())",
    "a global": _TWO + _N + "    return TABLE.float() * n",
    "a list": (
        "def f(hs: list[torch.Tensor]):\n"
        "    n = hs[0].float().max().item()\n    return hs[1].float() * n"
    ),
    "the others of a list": (
        "def f(x: torch.Tensor, hs: list[torch.Tensor]):\n"
        + _N
        + "    return [h.float() * n for h in hs]"
    ),
    "a helper": "def scaled(a, b):\n    return a * b\n\n"
    + _TWO
    + _N
    + "    return scaled(y.float(), n)",
    "a helper with both": (
        "def scaled(a, b, c):\n    return b * c\n\n"
        + _TWO
        + _N
        + "    return scaled(x.float(), y.float(), n)"
    ),
    "selected by another": (
        _TWO + "    return y.float() * y.float().masked_select(x > 0).sum().item()"
    ),
    "indexed by another": _TWO + "    return y.float() * y.float()[x.long()].sum().item()",
    "computed with another": _TWO + "    return x.float() * (x.float() * y.float()).sum().item()",
    "a count": _TWO + "    return y.float() * int((x > 0).sum())",
    "made where it is, of another class": _TWO
    + _N
    + "    return torch.ones(3, device=x.device) * n",
    "moved to one place, of another class": (
        _TWO + "    n = x.to(y.device).float().max().item()\n    return y.float() * n"
    ),
    "two of a call": (
        "def two(x):\n    return x.float(), x.float().cpu()\n\n" + _TWO + "    a, b = two(x)\n"
        "    return a * b.max().item()"
    ),
}
_CLASS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))

    def forward(self, x: torch.Tensor):
"""
_APART_IN_MODULE = {
    "a module half moved": "        return self.weight * self.scale.item()",
    "the input and a parameter": "        return x.float() * self.scale.item()",
    "a layer": (
        "        n = x.float().max().item()\n        y = self.layers[0](x)\n"
        "        return y.float() * n"
    ),
    "moved in between": (
        "        n = self.weight.max().item()\n        self.cuda()\n        return self.weight * n"
    ),
    "stored by another": (
        "        n = self.weight.max().item()\n        self.move()\n"
        "        return self.weight * n\n\n"
        "    def move(self):\n        self.weight = nn.Parameter(self.weight.cpu())"
    ),
    "of the round before": (
        "        n = 1.0\n        for layer in self.layers:\n            x = layer(x).float()\n"
        "            y = x * n\n            n = x.max().item()\n        return y"
    ),
    "of the first round": (
        "        for i, layer in enumerate(self.layers):\n            x = layer(x).float()\n"
        "            if i == 0:\n                n = x.max().item()\n            x = x * n\n"
        "        return x"
    ),
}
_TOGETHER = {
    "itself": _TWO + _N + "    return x.float() * n",
    "what is computed of it": _TWO + _N + "    return (x.float() - x.float().mean()).abs() * n",
    "a part": _TWO + _N + "    return x.float()[0, 1:] * n",
    "transposed": _TWO + _N + "    return x.float().mT * n",
    "of another dtype": _TWO + _N + "    return x.to(torch.float32) * n",
    "of its own dtype": _TWO + "    return x.to(x.dtype).float() * x.float().max().item()",
    "its greatest": _TWO + _N + "    return x.float().max(1).values * n",
    "one of two results": _TWO + _N + "    v, i = x.float().sort()\n    return v.float() * n",
    "a function": _TWO + _N + "    return nn.functional.relu(x.float()) + n",
    "joined": _TWO + _N + "    return torch.cat([x.float(), x.float() * 2]) * n",
    "with another": _TWO + _N + "    return (x.float() * y.float()) * n",
    "a product of matrices": _TWO + _N + "    return (y @ x).float() * n",
    "made like it": _TWO + _N + "    return torch.zeros_like(x.float()) + n",
    "made by it": _TWO + _N + "    return torch.where(x > 0, x.float(), n)",
    "moved before": (
        _TWO + "    x = x.to(device).float()\n    n = x.max().item()\n    return x.abs() * n"
    ),
    "bound on some ways": (
        _TWO + "    if flag:\n        x = x.cpu()\n" + _N + "    return x.float() * n"
    ),
    "two numbers of it": _TWO + _N + "    return x.float() * n - x.float().min().item()",
    "a helper": "def scaled(a, b):\n    return a * b\n\n"
    + _TWO
    + _N
    + "    return scaled(x.float(), n)",
    "a helper that computes": (
        "def scaled(a, b):\n    c = a.abs()\n    return c * b\n\n"
        + _TWO
        + _N
        + "    return scaled(x.float() + 1, n)"
    ),
}
_TOGETHER_IN_MODULE = {
    "a parameter": "        return self.weight * self.weight.max().item()",
    "what a layer gives": (
        "        y = self.layers[0](x).float()\n        return y * y.max().item()"
    ),
    "each round": (
        "        for layer in self.layers:\n            x = layer(x).float()\n"
        "            n = x.max().item()\n            x = x * n\n        return x"
    ),
}


_BRANCHES = {
    "a flag of another": "    x = x.float()\n    if flag.any():\n        x = x * 2",
    "a flag of another, both ways": (
        "    x = x.float()\n    if (flag > 0).any():\n        z = x * 2\n"
        "    else:\n        z = x * 3\n    x = z"
    ),
    "of the CPU": (
        "    z = x.cpu().float() * 2\n    if torch.isinf(x).any():\n        z = z * 2\n    x = z"
    ),
    "of unknown dtype": "    if flag.any():\n        x = x * 2",
    "a slice up to another": ("    n = (flag > 0).sum()\n    x = x.reshape(-1) * 2\n    x[:n] = 0"),
}


def _code(program: str) -> str:
    return f"{_HEAD}{program}\n".replace("def f(", "@torch.compile\ndef f(")


def _repairs(
    code: str, folder: Path, *select: str
) -> list[tuple[Applicability | None, Change, str]]:
    (folder / "m.py").write_text(code)
    select = select or ("TCL101", "TCL102")
    run = check_files([folder / "m.py"], Config(root=folder, select=select))
    assert not run.errors
    found = [
        (one.diagnostic.fixable, one.repair.change, one.repair.changes)
        if one.repair
        else (None, Change.BEHAVIOUR, "device")
        for one in run.results
    ]
    assert found, code
    return found


@pytest.mark.parametrize(
    "code",
    [_code(one) for one in _APART.values()]
    + [f"{_HEAD}{_CLASS}{one}\n" for one in _APART_IN_MODULE.values()],
    ids=[*_APART, *_APART_IN_MODULE],
)
def test_what_may_be_on_another_device_is_never_met_safely(code: str, tmp_path: Path) -> None:
    found = _repairs(code, tmp_path)
    assert any(
        fixable is not Applicability.SAFE and change is Change.BEHAVIOUR and "device" in changes
        for fixable, change, changes in found
    ), found


@pytest.mark.parametrize(
    "code",
    [_code(one) for one in _TOGETHER.values()]
    + [f"{_HEAD}{_CLASS}{one}\n" for one in _TOGETHER_IN_MODULE.values()],
    ids=[*_TOGETHER, *_TOGETHER_IN_MODULE],
)
def test_what_comes_of_one_tensor_is_met_safely(code: str, tmp_path: Path) -> None:
    assert {fixable for fixable, _, _ in _repairs(code, tmp_path)} == {Applicability.SAFE}


@pytest.mark.parametrize("branch", _BRANCHES)
def test_a_test_chooses_only_what_is_where_it_is(branch: str, tmp_path: Path) -> None:
    program = f"def f(x: torch.Tensor, flag: torch.Tensor):\n{_BRANCHES[branch]}\n    return x"
    found = _repairs(_code(program), tmp_path, "TCL160", "TCL106")
    assert all(
        fixable is not Applicability.SAFE and "device" in changes for fixable, _, changes in found
    ), found
    own = program.replace("flag", "x").replace("x: torch.Tensor, x: ", "x: ").replace(".cpu()", "")
    assert all("device" not in one[2] for one in _repairs(_code(own), tmp_path, "TCL160", "TCL106"))
