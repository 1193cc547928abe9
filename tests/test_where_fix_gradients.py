"""Where a branch is safely rewritten as `torch.where`, gradients are those of the branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from pathlib import Path

_ARMS = {
    "a clamp": "torch.clamp(y, min=-2, max=2)",
    "a clamp from below": "y.clamp_min(0.5)",
    "a relu": "F.relu(y)",
    "a negation": "-y",
    "a product": "y * 1e6",
    "a quotient": "y / 3",
    "a difference": "1 - y",
    "several": "torch.relu(2 * y - 1).clamp(max=9)",
}
_INPUTS = {
    "finite": [-1.0, 0.0, 0.5, 3.0],
    "all positive": [1.0, 2.0, 4.0],
    "infinite": [1.0, float("inf"), -float("inf")],
    "NaN": [1.0, float("nan")],
}
_DTYPES = (torch.float32, torch.float16, torch.float64)


@pytest.mark.parametrize("arm", _ARMS.values(), ids=_ARMS)
@pytest.mark.parametrize("test", ["y.sum() > 2", "not torch.isfinite(y).all()"])
def test_gradients_stay(arm: str, test: str, tmp_path: Path) -> None:
    before = f"""\
import torch
import torch.nn.functional as F


def f(x):
    y = x * 1
    if y.is_floating_point():
        if {test}:
            y = {arm}
    return y
"""
    path = tmp_path / "example.py"
    path.write_text(before, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL160",), compiled=("*:f",))
    (fixed,) = fix_files([path], config).changed
    assert "torch.where" in fixed.after
    for dtype in _DTYPES:
        for numbers in _INPUTS.values():
            expected, given = (_run(code, numbers, dtype) for code in (before, fixed.after))
            for left, right in zip(expected, given, strict=True):
                assert torch.equal(left.nan_to_num(nan=77), right.nan_to_num(nan=77)), numbers


_FACTORS = {
    "a parameter": "y * scale",
    "a literal that float32 does not hold": "y * 1e39",
    "a product of literals": "y * (1e30 * 1e30)",
    "a divisor whose inverse float32 does not hold": "y / 1e-40",
    "a divisor that float32 does not hold": "y / 1e39",
    "a constant of the module": "y * SCALE",
    "a sum": "y * (scale + 1)",
    "a negative one": "-scale * y",
    "a limit doubled": "y * (torch.finfo(y.dtype).max * 2)",
    "a limit of another dtype": "y * torch.finfo(torch.float64).max",
    "deep inside": "torch.relu(y * scale + 1) / 2",
}


@pytest.mark.parametrize("arm", _FACTORS.values(), ids=_FACTORS)
@pytest.mark.parametrize(
    "branch",
    [
        "if y.isnan().any():\n        y = {arm}",
        "if y.isnan().any():\n        y = {arm}\n    else:\n        y = -y",
        "mask = y.isnan()\n    y[mask] = {arm}",
    ],
    ids=["an if", "two ways", "a mask"],
)
def test_gradients_stay_whatever_the_factor(arm: str, branch: str, tmp_path: Path) -> None:
    written = arm.replace("y", "y[mask]").replace("dty[mask]pe", "dtype")
    code = f"""\
import torch

SCALE = float("inf")


def f(x, scale: float = float("inf")):
    y = x.float() * 1
    {branch.format(arm=written if "mask" in branch else arm)}
    return y
"""
    path = tmp_path / "example.py"
    path.write_text(code, encoding="utf-8")
    config = Config(root=tmp_path, select=("TCL160", "TCL170"), compiled=("*:f",))
    changed = fix_files([path], config).changed
    fixed = changed[0].after if changed else code
    expected, given = (_run(text, [1.0, -2.0], torch.float32) for text in (code, fixed))
    for left, right in zip(expected, given, strict=True):
        assert torch.equal(left, right)


def _run(code: str, numbers: list[float], dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """The result of the function, and the gradient of the sum of its squares."""
    names: dict[str, object] = {}
    exec(code, names)
    x = torch.tensor(numbers, dtype=dtype, requires_grad=True)
    result = names["f"](x)  # type: ignore[operator]
    result.square().sum().backward()
    assert x.grad is not None
    return result.detach(), x.grad
