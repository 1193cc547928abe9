"""Reads in training loops: which give the same number again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

FILE = """\
import torch
import torch.distributed as dist


def train(model, optimizer, batches, mask: torch.Tensor, handle):
{before}
    for x, y in batches:
        loss = model(x, y)
        loss.backward()
        optimizer.step()
{steps}
"""


def write(root: Path, before: str, steps: str) -> Path:
    path = root / "train.py"
    first, second = (
        "\n".join(" " * depth + line for line in text.split("|"))
        for depth, text in ((4, before), (8, steps))
    )
    path.write_text(FILE.format(before=first, steps=second), encoding="utf-8")
    return path


def codes(root: Path, before: str, steps: str) -> list[str]:
    config = Config(root, select=("TCL333",), weak=True)
    run = check_files([write(root, before, steps)], config)
    return [result.diagnostic.code for result in run.results]


@pytest.mark.parametrize(
    ("before", "steps"),
    [
        ("n = mask.sum()", "print(n.item())"),
        ("n = mask.sum()", "if n.item():|    pass"),
        ("n = torch.tensor(3.0, device=handle)", "print(n.item())"),
        ("n = torch.tensor(3.0).to(handle)", "print(n.item())"),
        ("n = mask.sum()|dist.all_reduce(n)", "print(n.item(), n.item())"),
        ("n = 1 + mask.mean()", "print(n.item())"),
    ],
)
def test_a_number_stays_where_nothing_can_change_it(
    tmp_path: Path, before: str, steps: str
) -> None:
    assert codes(tmp_path, before, steps) == ["TCL333"]


@pytest.mark.parametrize(
    ("before", "steps"),
    [
        ("n = mask.sum()", "n.add_(1)|print(n.item())"),
        ("n = mask.sum()", "n = n + 1|print(n.item())"),
        ("n = mask.sum()", "handle(n)|print(n.item())"),
        ("n = mask.sum()|handle(n)", "print(n.item())"),
        ("n = mask.sum()|work = dist.all_reduce(n, async_op=True)", "print(n.item())"),
        ("n = torch.sum(mask, dim=0, out=handle)", "print(n.item())"),
        ("n = mask.view(-1)", "print(n.item())"),
        ("n = mask", "print(n.item())"),
        ("n = torch.tensor(3.0)", "print(n.item())"),
        ("n = torch.zeros(3).sum()", "print(n.item())"),
        ("n = mask.sum()", "if x is None:|    print(n.item())"),
        ("n = mask.sum()|for k in handle:|    n += k", "print(n.item())"),
        ("global n|n = mask.sum()", "print(n.item())"),
        ("n = mask.sum()", "print(mask.item())"),
    ],
)
def test_what_may_change_is_left_alone(tmp_path: Path, before: str, steps: str) -> None:
    assert codes(tmp_path, before, steps) == []


def test_what_a_loop_runs_over_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path, "n = mask.sum()", "pass")
    text = path.read_text(encoding="utf-8")
    config = Config(tmp_path, select=("TCL333",), weak=True)
    for loop, found in (("for x in range(n.item())", []), ("while n.item() > x", ["TCL333"])):
        path.write_text(text.replace("for x, y in batches", loop), encoding="utf-8")
        assert [r.diagnostic.code for r in check_files([path], config).results] == found


def test_the_new_variable_has_a_name_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, "n = mask.sum()|n_value = 3", "print(n.item(), n_value)")
    [fixed] = fix_files([path], Config(tmp_path, select=("TCL333",)), unsafe=True).changed
    assert "    n_value_ = n.item()\n    for x" in fixed.after
    assert "print(n_value_, n_value)" in fixed.after
