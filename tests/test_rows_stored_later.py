"""Rows that a mask selects and that are stored some statements later are computed for all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from .proof.fixing import fixed

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import torch
from torch import nn

KEPT = []


class Adapter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Linear(4, 2)
        self.up = nn.Linear(2, 4)

    def forward(self, x: torch.Tensor):
        return self.up(torch.relu(self.down(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.adapters = nn.ModuleDict({"a": Adapter(), "b": Adapter()})

    def forward(self, x: torch.Tensor, ids: torch.Tensor):
        y = torch.zeros_like(x)
        for number, key in enumerate(self.adapters.keys()):
            mask = ids == number
            rows = x[mask]
            done = self.adapters[key](rows)
            y[mask] = done
        return y + x
"""
FORMS = {
    "as it is": CODE,
    "one variable": CODE.replace("done", "rows"),
    "computed in the store": CODE.replace("y[mask] = done", "y[mask] = done * 2 + 1"),
    "scaled first": CODE.replace("x[mask]\n", "x[mask]\n            rows = rows * 0.5\n"),
    "a number of all": CODE.replace("y[mask] = done", "y[mask] = done * x.sum()"),
    "both": CODE.replace("y[mask] = done", "y[mask] = done + rows"),
    "a known rank": CODE.replace("        y = ", "        x = x.reshape(3, 2, 4)\n        y = "),
}
X = torch.arange(24.0).reshape(3, 2, 4) / 24


def outcome(code: str, ids: torch.Tensor, backend: str | None = None) -> list[torch.Tensor]:
    names: dict[str, Any] = {"__name__": "program"}
    exec(code, names)
    torch.manual_seed(0)
    model = names["Net"]()
    torch._dynamo.reset()
    run = torch.compile(model, backend=backend, fullgraph=True) if backend else model
    x = X.clone().requires_grad_()
    result = run(x, ids)
    result.sum().backward()
    slopes = [one.grad for one in model.parameters()]
    known = [torch.zeros(()) if slope is None else slope for slope in slopes]
    assert x.grad is not None
    return [result.detach(), x.grad, *known]


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMS)
def test_rows_and_gradients_are_the_same_in_one_graph(name: str, tmp_path: Path) -> None:
    after = fixed(FORMS[name], tmp_path, unsafe=True)
    assert "y.copy_(" in after
    assert "x[mask]" not in after
    for ids in (torch.tensor([0, 1, 0]), torch.tensor([1, 1, 1]), torch.tensor([5, 7, 9])):
        before = outcome(FORMS[name], ids)
        for backend in (None, "aot_eager"):
            for one, other in zip(before, outcome(after, ids, backend), strict=True):
                torch.testing.assert_close(one, other)


def test_a_safe_fix_leaves_the_rows_alone(tmp_path: Path) -> None:
    assert fixed(CODE, tmp_path) == CODE


LEFT = {
    "used afterwards": ("        return y + x", "        return y + x + rows.sum()"),
    "rows selected before": (
        "            done =",
        "            other = x[mask]\n            rows = rows - KEPT[0]\n            done =",
    ),
    "another tensor": ("y[mask] = done", "y[mask] = done * x"),
    "another tensor's rows": ("y[mask] = done", "y[mask] = done + x[ids == 2]"),
    "something unknown": ("y[mask] = done", "y[mask] = done + KEPT[0]"),
    "handed on with another": ("(rows)\n", "(rows, x[mask])\n"),
    "handed on with something": ("(rows)\n", "(rows, KEPT[0])\n"),
    "counted": ("            done =", "            KEPT = len(rows)\n            done ="),
    "divided by their number": ("done = ", "rows = rows / len(rows)\n            done = "),
    "a number of rows": ("done = ", "n = rows.shape[0]\n            done = n * "),
    "summed up": ("y[mask] = done", "y[mask] = done - sum(done)"),
    "printed": ("            done =", "            print(rows)\n            done ="),
    "kept": ("            done =", "            KEPT.append(rows)\n            done ="),
    "another mask": ("y[mask]", "y[ids == number]"),
    "the mask bound again": (
        "            y[mask]",
        "            mask = ids > 0\n            y[mask]",
    ),
    "the data bound again": ("            y[mask]", "            x = x * 2\n            y[mask]"),
    "stored back": ("y[mask] = done", "x[mask] = done"),
    "a sum over rows": ("done = ", "rows = rows - rows.sum(0)\n            done = "),
    "a mean of all": ("done = ", "rows = rows / rows.mean()\n            done = "),
    "a row": ("done = ", "rows = rows - rows[0]\n            done = "),
    "changed in place": ("done = ", "rows += 1\n            done = "),
    "written": ("done = ", "rows[0] = 1\n            done = "),
    "written by a method": ("done = ", "rows = rows.mul_(2)\n            done = "),
    "sorted": ("done = ", "rows = rows.sort(0).values\n            done = "),
    "turned": ("done = ", "rows = rows.flip(0)\n            done = "),
    "transposed": ("done = ", "rows = rows.transpose(0, 1)\n            done = "),
    "below a test": (
        "            done = ",
        "            if number:\n                x = x\n            done = ",
    ),
    "not all rows": ("y[mask] = done", "y[mask] = done[:1]"),
    "added": ("y[mask] = done", "y[mask] += done"),
    "nothing of them": ("y[mask] = done", "y[mask] = 1.0"),
    "indices": ("mask = ids == number", "mask = (ids == number).long()"),
    "read by a function": ("        return y + x", "        return (lambda: y + x + rows)()"),
    "batch norm": (
        "done = self.adapters[key](rows)",
        "done = torch.nn.functional.batch_norm(rows, None, None, training=True)",
    ),
}


@pytest.mark.parametrize("name", LEFT)
def test_rows_that_are_for_more_stay(name: str, tmp_path: Path) -> None:
    old, new = LEFT[name]
    code = CODE.replace(old, new, 1)
    assert code != CODE
    after = fixed(code, tmp_path, unsafe=True)
    assert "rows = x[mask]" in after
