"""A boolean that was read is no exponent as a tensor, and no base: torch has no gradient of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.before_and_after import fixed, outcome

PROGRAM = """
import torch


@torch.compile
def f(x: torch.Tensor):
    n = (x.norm() > 0).item()
    y = x * 3
    return {value}


def main():
    x = torch.ones(3, requires_grad=True)
    f(x).sum().backward()
    return x.grad
"""
REFUSED = ["y ** n", "n ** y", "y.pow(n)", "torch.pow(y, n)", "y - n", "n - y", "y.sub(n)"]


@pytest.mark.parametrize("value", REFUSED)
def test_a_boolean_stays_a_number_there(value: str, tmp_path: Path) -> None:
    files = {"program.py": PROGRAM.format(value=value)}
    assert fixed(tmp_path, files, unsafe=True) == files


@pytest.mark.parametrize("value", ["y * n", "y + n", "y / n"])
def test_a_boolean_is_a_factor(value: str, tmp_path: Path) -> None:
    files = {"program.py": PROGRAM.format(value=value)}
    after = fixed(tmp_path, files, unsafe=True)
    assert after != files
    assert outcome(tmp_path, after) == outcome(tmp_path, files)
