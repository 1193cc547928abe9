"""Loops over what a mask selects: which of them may go over all indices."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

if TYPE_CHECKING:
    from pathlib import Path

HEAD = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

    def forward(self, x):
        x = x.reshape(-1, 3)
        masks = torch.stack([x[:, 0] > 0, x[:, 0] <= 0, x[:, 1] > 0])
        counts = masks.sum(dim=-1)
        places = torch.arange(3)
        y = torch.zeros_like(x)
        s = 1
"""
STORE = "y[masks[i]] = self.experts[i](x[masks[i]])"
LOOP = f"for i in counts.nonzero(as_tuple=True)[0].tolist():\n    {STORE}"


def fixed(body: str, folder: Path) -> str:
    """The loops of the program, and what they go over, after unsafe fixes."""
    path = folder / "program.py"
    path.write_text(HEAD + "".join(f"        {line}\n" for line in body.splitlines()))
    config = Config(root=folder, weak=True)
    changed = fix_files([path], config, unsafe=True).changed
    code = changed[0].after if changed else path.read_text()
    shown = ("for i", "hit =")
    parts = (ast.unparse(node) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt))
    return "\n".join(part.partition("\n")[0] for part in parts if part.startswith(shown))


@pytest.mark.parametrize(
    "loop",
    [
        LOOP,
        f"hit = (counts > 0).nonzero().flatten()\nfor i in hit:\n    {STORE}",
        f"for i in torch.nonzero(counts).squeeze(-1):\n    {STORE}",
        f"for i in torch.where(counts >= 1)[0]:\n    {STORE}",
        f"hit = counts != 0\nfor i in torch.gt(counts, 0).nonzero()[:, 0].long():\n    {STORE}",
    ],
)
def test_a_loop_whose_stores_are_rewritten_goes_over_all_indices(loop: str, tmp_path: Path) -> None:
    assert "range(counts.shape[0])" in fixed(f"{loop}\nreturn y", tmp_path)


TRACES = [
    pytest.param(LOOP.replace(STORE, "y[i] = self.experts[i](x[i])"), id="a row of its own"),
    pytest.param(LOOP.replace(STORE, "y[places[i]] = self.experts[i](x[0])"), id="a place"),
    pytest.param(LOOP.replace(STORE, f"s = s + 1\n    {STORE} * s"), id="counts its rounds"),
    pytest.param(
        LOOP.replace(STORE, f"if i == 1:\n        s = 5\n    {STORE} * s"),
        id="a number of a round before",
    ),
    pytest.param(LOOP.replace("counts.", "(counts > 2)."), id="a test of its own"),
    pytest.param(LOOP.replace("counts.nonzero(as_tuple=True)", "counts.nonzero()"), id="a row"),
    pytest.param(
        LOOP.replace("counts.nonzero(as_tuple=True)[0]", "masks.nonzero().flatten()"),
        id="indices of two dimensions",
    ),
    pytest.param(LOOP.replace(STORE, f"if s:\n        break\n    {STORE}"), id="break"),
    pytest.param(LOOP.replace(STORE, f"self.last = i\n    {STORE}"), id="stored"),
    pytest.param(LOOP.replace(STORE, f"z = y\n    {STORE}\nx = z"), id="read behind the loop"),
    pytest.param(f"{LOOP}\nelse:\n    x = y", id="else"),
    pytest.param(f"for j in [0]:\n    i = j\n{LOOP}\nx = x * i", id="the index is read behind"),
]


@pytest.mark.parametrize("loop", TRACES)
def test_a_round_that_leaves_a_trace_stays_for_what_is_selected(loop: str, tmp_path: Path) -> None:
    loops = fixed(f"{loop}\nreturn x, y", tmp_path)
    assert "nonzero" in loops
    assert "range" not in loops


def test_a_loop_whose_store_would_break_for_each_index_stays(tmp_path: Path) -> None:
    loop = LOOP.replace(STORE, "y[masks[i]] = x[masks[i]].cumsum(0)")
    assert "nonzero" in fixed(f"{loop}\nreturn y", tmp_path)
