"""Several findings in one statement: what is fixed is fixed whole, what is left is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs are run and compiled")

import torch

from tclint.config import Config
from tclint.diagnostics import Effect
from tclint.fix.apply import fix_files
from tclint.lint.engine import check_files

from .dynamo import breaks, loaded
from .samples import one_in

HEAD = """\
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import norm


def f(a: torch.Tensor, b: torch.Tensor):
"""
# Statements that say something twice, or in two ways; `a` and `b` are matrices of one shape.
WHOLE = (
    "return norm(a) / np.sqrt(np.prod(a.shape)) + norm(b) / np.sqrt(np.prod(b.shape))",
    "return a * np.sqrt(a.shape[0]) + b * np.sqrt(b.shape[1]) - np.sqrt(a.shape[1])",
    "return a / np.sqrt(a.shape[0]) if a.ndim > 1 else b / np.sqrt(b.shape[0])",
    "return a * a.max().item() + b * b.max().item()",
    "return a * a.max().item(), b * b.min().item(), a * 2",
    "return a * float(a.max()) + b * float(b.min())",
    "return (a * a.sum().item()).sum() + (b * b.sum().item()).sum()",
    "return torch.stack([a * a.mean().item(), b * b.mean().item()])",
    "return {'a': a * a.mean().item(), 'b': b * b.mean().item()}",
    "x, y = a * a.max().item(), b * b.max().item()\n    return x + y",
    "x = a * a.max().item(); y = b * b.max().item()\n    return x + y",
    "return F.relu(a * a.max().item()) + F.relu(b * b.max().item())",
    "return a[:, np.arange(2)] * 1 + b[:, np.arange(2)]",
    "return a * int(np.prod([2, 3])) + b * int(np.prod([4, 5]))",
    "assert (a > -9).all() and (b > -9).all() and a.max().item() < 99\n    return a + b",
    "assert not (a > 99).any() and not (b > 99).any(), 'large'\n    return a + b",
    "assert (a > -9).all() and (b > -9).all(), f'small, got {a.min()}'\n    return a + b",
    "if (a > 99).any() or (b > 99).any():\n        raise ValueError('large')\n    return a + b",
    "if not (a > -9).all():\n        raise ValueError(f'small {a}')\n    return a + b",
    "assert (b > -9).all() and (a > -9).all(), ('small', 2)\n    return a + b",
    "print(a.max().item(), b.max().item())\n    return a + b",
    "return (\n        a * a.max().item()  # one\n        + b * b.max().item()  # two\n    )",
    "return a * a.max().item() + b * b.max().item() + a * a.min().item() + b * b.sum().item()",
)
# Statements of which only one part can be fixed, or none.
HALF = (
    "return a * a.max().item() + b[: int(b[0, 0])].sum()",
    "return a * a.max().item(), [1, 2, 3][int(b[0, 0])]",
    "return a * a.sum().item(), str(b.sum().item())",
    "assert (a > -9).all() and int(b.sum()) != 99\n    return a + b",
)
INPUTS: tuple[tuple[torch.Tensor, torch.Tensor], ...] = (
    (torch.arange(6.0).reshape(2, 3), torch.ones(2, 3)),
    (torch.ones(2, 3).double(), torch.full((2, 3), 1.5).double()),
    (torch.full((2, 3), 100.0), torch.ones(2, 3)),
)
CAUGHT = (AssertionError, IndexError, RuntimeError, TypeError, ValueError)


def _fixed(folder: Path, text: str, *, unsafe: bool) -> tuple[str, list[str]]:
    """A program after `fix`, and the breaks that `check` still reports."""
    path = folder / "program.py"
    path.write_text(text, encoding="utf-8")
    config = Config(folder, compiled=("*:f",))
    changed = fix_files([path], config, unsafe=unsafe).changed
    after = changed[0].after if changed else text
    found = check_files([path], config, {path: after}).results
    left = [r.diagnostic.code for r in found if r.diagnostic.effect is Effect.GRAPH_BREAK]
    path.write_text(after, encoding="utf-8")
    assert not fix_files([path], config, unsafe=unsafe).changed
    return after, left


def _outcome(text: str, inputs: tuple[Any, ...]) -> list[Any]:
    """The parts of what a program gives, or its exception."""
    try:
        result = loaded(text)(*(one.clone() for one in inputs))
    except CAUGHT as error:
        return [type(error).__name__]
    values = result.values() if isinstance(result, dict) else result
    return [result] if isinstance(result, torch.Tensor) else [*values]


def _assert_same(now: list[Any], before: list[Any], **how: Any) -> None:
    assert len(now) == len(before)
    for one, other in zip(now, before, strict=True):
        if isinstance(other, torch.Tensor):
            torch.testing.assert_close(one, other, **how)
        else:
            assert one == other


@pytest.mark.parametrize("body", (*WHOLE, *HALF))
def test_a_safe_fix_of_a_line_changes_nothing(body: str, tmp_path: Path) -> None:
    text = f"{HEAD}    {body}\n"
    after, _ = _fixed(tmp_path, text, unsafe=False)
    for inputs in INPUTS:
        before, now = (_outcome(code, inputs) for code in (text, after))
        _assert_same(now, before, rtol=0, atol=0)


@pytest.mark.parametrize("body", one_in(2, WHOLE))
def test_a_line_is_fixed_whole(body: str, tmp_path: Path) -> None:
    text = f"{HEAD}    {body}\n"
    after, left = _fixed(tmp_path, text, unsafe=True)
    assert after != text
    assert left == []
    assert "np.sqrt" not in after
    assert not breaks(after, *INPUTS[0]), after
    for inputs in INPUTS:
        _assert_same(_outcome(after, inputs), _outcome(text, inputs))


@pytest.mark.parametrize("body", HALF)
def test_what_is_left_of_a_line_is_reported(body: str, tmp_path: Path) -> None:
    text = f"{HEAD}    {body}\n"
    after, left = _fixed(tmp_path, text, unsafe=True)
    assert left
    assert breaks(after, *INPUTS[0]), after
