"""`if mask.any(): x[mask] = rows[i].to(...)`: an empty mask stores nothing, so nobody need ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch


@torch.compile
def f(x: torch.Tensor, ids: torch.Tensor, output):
    x = x * 2
    rows = output.rows
    for i in range(2):
        mask = ids == i
        if mask.any():
            x[mask] = rows[i].to(x.device, x.dtype)
    return x + 1
"""
LEFT = {
    "what a call gives": ("rows[i].to(", "rows(i).to("),
    "a part of a call": ("rows[i].to(", "rows[output.next()].to("),
    "a number asked for": ("rows[i].to(x.device", "rows[i].to(output.device()"),
    "a method that nobody knows": ("rows[i].to(x.device, x.dtype)", "rows[i].take(1)"),
    "what the mask selects": ("rows[i].to(", "x[mask].to("),
    "another mask": ("x[mask] = ", "x[ids > i] = "),
    "more than a store": ("x[mask] = ", "output.count = 1\n            x[mask] = "),
    "an else": ("\n    return", "\n        else:\n            x = x + 1\n    return"),
    "all instead": ("mask.any()", "mask.all()"),
    "a count": ("mask.any()", "mask.sum() > 1"),
    "a view of a parameter": ("x = x * 2", "x = torch.nn.Parameter(x).view(-1)"),
    "a row of a parameter": ("x = x * 2", "w = torch.nn.Parameter(x)\n    x = w[0]"),
}


def function(code: str) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code.replace("@torch.compile\n", ""), names)
    return names["f"]


class Output:
    """Holds rows of another dtype."""

    def __init__(self) -> None:
        self.rows = torch.arange(6).reshape(2, 3)


@pytest.mark.slow
def test_stores_are_the_same_in_one_graph(tmp_path: Path) -> None:
    after = fixed(CODE, tmp_path, unsafe=True, weak=True)
    assert "any()" not in after
    torch._dynamo.reset()
    whole = torch.compile(function(after), backend="eager", fullgraph=True)
    for ids in (torch.tensor([0, 1]), torch.tensor([1, 1]), torch.tensor([5, 7])):
        known = function(CODE)(torch.ones(2, 3), ids, Output())
        for run in (function(after), whole):
            assert torch.equal(run(torch.ones(2, 3), ids, Output()), known)


def test_a_safe_fix_leaves_the_guard(tmp_path: Path) -> None:
    assert fixed(CODE, tmp_path, weak=True) == CODE


@pytest.mark.parametrize("name", LEFT)
def test_other_guards_stay(name: str, tmp_path: Path) -> None:
    old, new = LEFT[name]
    code = CODE.replace(old, new, 1)
    assert code != CODE
    after = fixed(code, tmp_path, unsafe=True, weak=True)
    assert "if mask." in after
