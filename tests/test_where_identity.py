"""`torch.where` makes a new tensor: a branch becomes one only where nobody can tell."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="the programs run torch")

import torch

from tclint.config import Config
from tclint.fix.apply import fix_files

from .proof.witness import assert_kept

KEPT = {
    "a list": ("kept = [y]", "kept[0].add_(1)"),
    "a list that grows": ("kept = []\n    kept.append(y)", "y[0] = 5"),
    "a dict": ('kept = {"y": y}', 'kept["y"].mul_(3)'),
    "another name": ("kept = y", "kept += 1"),
    "a name of an expression": ("kept = (z := y)", "z.add_(1)"),
    "an attribute": ("BOX.kept = y", "BOX.kept.add_(1)"),
    "a function": ("keep(y)", "KEPT[-1].add_(1)"),
    "a module": ("stash(y)", "stash.kept.add_(1)"),
    "a view": ("kept = y.view(-1)", "y += 1"),
    "a view that is not in every list": ("kept = y.unfold(0, 2, 1)", "y += 1"),
    "members": ("kept, other = y.chunk(2)", "y += 1"),
    "rows": ("kept = [row for row in y]", "kept[0].add_(1)"),
    "a closure": ("def keep_it():\n        return y\n    kept = keep_it()", "kept.add_(1)"),
    "a default": ("keep_it = lambda kept=y: kept", "keep_it().add_(1)"),
    "an array": ("kept = y.detach().numpy()", "kept += 1"),
    "a condition": ("kept = y if x.dim() else x", "kept.add_(1)"),
    "a partial": ("kept = partial(torch.Tensor.add_, y)", "kept(1)"),
    "its gradient": (
        "y.retain_grad() if y.requires_grad else None\n    kept = y",
        "kept = y is kept",
    ),
    "an attribute of its own": ("y.tag = 3", 'kept = hasattr(y, "tag")'),
    "its number": ("kept = id(y)", "kept = kept == id(y)"),
    "its memory": ("kept = y.data_ptr()", "kept = kept == y.data_ptr()"),
    "autograd": ("kept = (y * y).sum()", "y += 1"),
    "a generator": ("kept = (row for row in y)", "y += 1\n    kept = next(kept)"),
    "a match": ("match y:\n        case kept:\n            pass", "kept.add_(1)"),
    "the names of the function": ("kept = dict(locals())", 'kept["y"].add_(1)'),
    "nobody": ("kept = y.sum() + y", "kept = kept * y"),
    "nobody, and it is written": ("kept = 1", "y += 1"),
}
CHOICES = {
    "an if": "if y.sum() > 0:\n        y = torch.clamp(y, max=2)",
    "two ways": "if y.sum() > 0:\n        z = y * 2\n    else:\n        z = y\n    y = z",
    "a loop": "for _ in range(2):\n        if y.sum() > 0:\n            y = torch.clamp(y, max=2)",
}
MADE = ("x.float() * 1", "F.dropout(x.float(), training=False)")
PROGRAM = """\
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

KEPT = []


class BOX:
    kept = None


class Stash(nn.Module):
    def forward(self, tensor):
        self.kept = tensor
        return tensor.sum()


stash = Stash()


def keep(tensor):
    KEPT.append(tensor)


def f(x: torch.Tensor):
    y, kept = {made}, None
    y = {made}
    {before}
    {choice}
    {after}
    return y, kept, BOX.kept, KEPT[-1:], x
"""
CALLED = [
    (torch.ones(4),),
    (-torch.ones(4),),
    (torch.ones(4, requires_grad=True),),
    (-torch.ones(4, requires_grad=True),),
]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize("kept", KEPT.values(), ids=KEPT)
def test_what_is_kept_is_what_was_kept(
    kept: tuple[str, str], choice: str, made: str, tmp_path: Path
) -> None:
    before, after = kept
    code = PROGRAM.format(made=made, before=before, choice=choice, after=after)
    config = Config(root=tmp_path, compiled=("*:f",), select=("TCL160",))
    assert_kept(code, CALLED, tmp_path, config)


RESULTS = {
    "an argument": "if x.sum() > 0:\n        x = -x\n    return x",
    "a view of it": "x = x.view(-1)\n    if x.sum() > 0:\n        x = -x\n    return x",
    "a conversion of it": "x = x.float()\n    if x.sum() > 0:\n        x = -x\n    return x",
    "half of it": "x, _ = x.chunk(2)\n    if x.sum() > 0:\n        x = -x\n    return x",
    "what a layer gave": "x = nn.Identity()(x)\n    if x.sum() > 0:\n        x = -x\n    return x",
    "leaf": "y = torch.ones(1, requires_grad=True)\n    if x.any():\n        y = -y\n    return y",
}


@pytest.mark.parametrize("body", RESULTS.values(), ids=RESULTS)
def test_a_result_that_others_hold_stays_what_it_is(body: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        f"import torch\nfrom torch import nn\n\n\ndef f(x: torch.Tensor):\n"
        f"    if not x.is_floating_point():\n        return x\n    {body}\n",
        encoding="utf-8",
    )
    config = Config(root=tmp_path, compiled=("*:f",), select=("TCL160",))
    assert not any("is_compiling" not in file.after for file in fix_files([path], config).changed)


def test_a_copy_that_is_only_read_is_no_difference(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\n\n\ndef f(x: torch.Tensor):\n    x = x.float()\n    if x.sum() > 0:\n"
        "        x = -x\n    return x + 1\n",
        encoding="utf-8",
    )
    config = Config(root=tmp_path, compiled=("*:f",), select=("TCL160",))
    (changed,) = fix_files([path], config).changed
    assert "x = torch.where(x.sum() > 0, -x, x)" in changed.after
