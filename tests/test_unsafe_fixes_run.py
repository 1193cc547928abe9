"""An unsafe fix changes what it names: what ran before it runs after it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

from tclint.config import Config
from tclint.fix.apply import fix_files

SIZES = "torch.tensor([2.0, 3.0])"
IMAGE = "torch.ones(1, 1, 4, 4)"
ROWS = "torch.tensor([[2.0, 1.0], [2.0, 0.0]])"
FUNCTIONS = {
    "a size": (
        "side = int(t.max())\n    return F.interpolate(x, size=side)",
        f"f({IMAGE}, {SIZES})",
    ),
    "sizes": (
        "h, w = int(t.max()), int(t.min())\n    return F.interpolate(x, size=(h, w))",
        f"f({IMAGE}, {SIZES})",
    ),
    "sizes for a helper": ("return resize(x, int(t.max()), int(t.min()))", f"f({IMAGE}, {SIZES})"),
    "sizes from a helper": ("return by_side(x, t)", f"f({IMAGE}, {SIZES})"),
    "keys": (
        "d = {}\n    for row in t:\n        d[int(row.max())] = row\n    assert len(d) == 1",
        f"f(1, {ROWS})",
    ),
    "keys by a method": (
        (
            "groups = {}\n    for row in t:\n"
            "        groups.setdefault(row.max().item(), []).append(row)\n"
            "    assert len(groups) == 1"
        ),
        f"f(1, {ROWS})",
    ),
    "keys by a helper": (
        (
            "groups = {}\n    for row in t:\n        group(groups, int(row.max()), row)\n"
            "    assert len(groups) == 1"
        ),
        f"f(1, {ROWS})",
    ),
    "a key that is written out": ("return {t.max().item(): x}[2.0]", f"f(1, {ROWS})"),
    "members": (
        "s = set()\n    for row in t:\n        s.add(row.max().item())\n    assert len(s) == 1",
        f"f(1, {ROWS})",
    ),
    "a range": ("return [x * i for i in range(int(t.max()))]", f"f(1, {SIZES})"),
    "an index": ("return [1, 2, 3, 4][int(t.max())]", f"f(1, {SIZES})"),
    "a text": ("return f'{int(t.max()):04d}'", f"f(1, {SIZES})"),
    "a method of a text": ("return '-' * int(t.max())", f"f(1, {SIZES})"),
    "whole numbers": ("return x * int(t)", "f(torch.ones(2), 3.7)"),
    "other numbers": ("return x * float(t), bool(t)", "f(torch.ones(2), 3.7)"),
    "numbers of numbers": ("return x * int(t * 2 + 1)", "f(torch.ones(2), 3.7)"),
    "a number of several": ("return x * int(t[0])", "f(torch.ones(2), [3.7])"),
    "texts that are equal": ("assert same(x, t)", "f('a', 'a')"),
    "numbers that are equal": ("return bool(x == t)", "f(3, 3)"),
    "an assert of sizes": (
        "h, w = t\n    assert x.shape[1] == h * w\n    return x * 2",
        "f(torch.ones(1, 4), (2, 2))",
    ),
    "an assert of numbers": (
        "h, w = t\n    assert h == w\n    return x * h",
        "f(torch.ones(1, 4), (2, 2))",
    ),
    "an assert of a number": ("assert t\n    return x * t", "f(torch.ones(1, 4), 2)"),
    "a type": (
        "assert x.type() == 'torch.FloatTensor'\n    return x * 2",
        "f(torch.ones(2), None)",
    ),
    "a type that is asked": (
        "if 'cuda' in x.type():\n        x = x * 2\n    return x",
        "f(torch.ones(2), None)",
    ),
}
HELPERS = """\
import torch
import torch.nn.functional as F
from torch import nn


def resize(x, height, width):
    return F.interpolate(x, size=(height, width))


def side_of(t):
    return int(t.max())


def by_side(x, t):
    side = side_of(t)
    return F.interpolate(x, size=(side, side))


def group(groups, key, row):
    groups.setdefault(key, []).append(row)


def same(a, b):
    try:
        return bool(a == b)
    except Exception:
        return False


"""


@pytest.mark.parametrize("program", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_still_runs(program: tuple[str, str], tmp_path: Path) -> None:
    body, call = program
    _run_both(f"{HELPERS}def f(x, t):\n    {body}\n", call, tmp_path)


ORDERS = {
    "a branch": "if fancy:\n            self.order = (2, 0, 1)",
    "a branch of two": (
        "if fancy:\n            self.order = (2, 0, 1)\n        else:\n            self.other = 1"
    ),
    "both ways": (
        "if fancy:\n            self.order = (2, 0)\n        else:\n            self.order = (0, 1)"
    ),
    "a loop": "for _ in range(fancy):\n            self.order = (2, 0, 1)",
    "an early end": "if not fancy:\n            return\n        self.order = (2, 0, 1)",
    "a manager": "with torch.no_grad():\n            self.order = (2, 0, 1)",
    "a loop that breaks": (
        "while True:\n            if not fancy:\n                break\n"
        "            self.order = (2, 0, 1)\n            break"
    ),
    "a try": (
        "try:\n            self.order = (2, 0, 1)[:: 1 // int(fancy)]\n"
        "        except ZeroDivisionError:\n            pass"
    ),
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_a_module_is_still_made(order: str, tmp_path: Path) -> None:
    code = (
        f"{HELPERS}class f(nn.Module):\n    def __init__(self, fancy=False):\n"
        f"        super().__init__()\n        {order}\n\n    def forward(self, x):\n"
        "        return x[:, torch.tensor(self.order, device=x.device)]\n"
    )
    _run_both(code, "f(False), f(True)(torch.ones(3, 3))", tmp_path)


def _run_both(code: str, call: str, folder: Path) -> None:
    """Run a program that works, and what all fixes make of it."""
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    config = Config(root=folder, compiled=("*:f", "*:f.forward"), weak=True)
    changed = fix_files([path], config, unsafe=True).changed
    for text in (code, changed[0].after if changed else code):
        names: dict[str, object] = {}
        exec(compile(text, "program.py", "exec"), names)
        eval(call, names)
