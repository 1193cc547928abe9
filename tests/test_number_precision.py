"""A number that stays on the device: what rounds, what loses precision, what does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.config import Config
from tclint.diagnostics import Change
from tclint.lint.engine import check_files

_BITS = "16 bits"
_RECIPROCAL = "reciprocal"
_USES: dict[str, tuple[Change, str]] = {
    # A quotient by a number is a product with its reciprocal on a GPU.
    "x / N": (Change.ROUNDING, _RECIPROCAL),
    "x.float() / x.float().max().item()": (Change.ROUNDING, _RECIPROCAL),
    "x.double() / x.double().max().item()": (Change.ROUNDING, _RECIPROCAL),
    "(x.float() + 1) / x.float().mean().item() - 1": (Change.ROUNDING, _RECIPROCAL),
    "x.div(N)": (Change.ROUNDING, _RECIPROCAL),
    "x.divide(N)": (Change.ROUNDING, _RECIPROCAL),
    "x.true_divide(N)": (Change.ROUNDING, _RECIPROCAL),
    "x.clone().div_(N)": (Change.ROUNDING, _RECIPROCAL),
    "torch.div(x, N)": (Change.ROUNDING, _RECIPROCAL),
    "torch.true_divide(x, N)": (Change.ROUNDING, _RECIPROCAL),
    "x // N": (Change.ROUNDING, _RECIPROCAL),
    "x.floor_divide(N)": (Change.ROUNDING, _RECIPROCAL),
    "x.float() / COUNT": (Change.ROUNDING, _RECIPROCAL),
    "x.double() / float(COUNT)": (Change.ROUNDING, _RECIPROCAL),
    "x.long() / COUNT": (Change.ROUNDING, _RECIPROCAL),
    "N / x": (Change.ROUNDING, "rounds twice"),
    "x.float() ** x.float().max().item()": (Change.ROUNDING, "powers"),
    "x.float() ** COUNT": (Change.BEHAVIOUR, "negative power"),
    # An integer becomes a number of 16 bits, and float16 has none beyond 65,504.
    "x.sum() / COUNT": (Change.BEHAVIOUR, "dtype"),
    "(x * keep).sum() / int(keep.sum())": (Change.BEHAVIOUR, "dtype"),
    "x.half().sum() / COUNT": (Change.BEHAVIOUR, _BITS),
    "x.half().sum() / float(COUNT)": (Change.BEHAVIOUR, _BITS),
    "x.bfloat16() * COUNT": (Change.BEHAVIOUR, _BITS),
    "x.half() + COUNT": (Change.BEHAVIOUR, _BITS),
    "x.half() - COUNT": (Change.BEHAVIOUR, _BITS),
    "COUNT - x.half()": (Change.BEHAVIOUR, _BITS),
    "x * COUNT": (Change.BEHAVIOUR, "dtype"),
    "torch.sigmoid(x.half()).sum() / COUNT": (Change.BEHAVIOUR, _BITS),
    "x.half().clamp(max=COUNT)": (Change.BEHAVIOUR, _BITS),
    "x.half().masked_fill(x > 0, COUNT)": (Change.BEHAVIOUR, _BITS),
    "torch.where(x > 0, x.half(), COUNT)": (Change.BEHAVIOUR, _BITS),
    "x.half() * x.float().max().item()": (Change.BEHAVIOUR, "dtype"),
    # Python computes in double precision.
    "x.float() * (x.float().max().item() * 0.1)": (Change.PRECISION, "double precision"),
    "x.float() * (x.float().max().item() / 3)": (Change.PRECISION, "double precision"),
    "x.half() * (x.half().max().item() + 1)": (Change.PRECISION, "double precision"),
    "x.float()[0] * (COUNT / 2)": (Change.BEHAVIOUR, "default dtype"),
    # These are the same bits on a CPU and a GPU.
    "x * N": (Change.SAME_BITS, ""),
    "x + N": (Change.SAME_BITS, ""),
    "N - x": (Change.SAME_BITS, ""),
    "x % N": (Change.SAME_BITS, ""),
    "x >= N": (Change.SAME_BITS, ""),
    "x.half() * x.half().max().item()": (Change.SAME_BITS, ""),
    "x.half() > COUNT": (Change.SAME_BITS, ""),
    "x.float() * COUNT": (Change.SAME_BITS, ""),
    "x.double() - float(COUNT)": (Change.SAME_BITS, ""),
    "x.masked_fill(x > 0, N)": (Change.SAME_BITS, ""),
    "x.float() * (x.float().max().item() + 1)": (Change.SAME_BITS, ""),
    "x.float() * (x.float().max().item() / 8)": (Change.SAME_BITS, ""),
}
_STORES: dict[str, tuple[Change, str]] = {
    "y[y > 0] = (y > 0).sum().item()": (Change.BEHAVIOUR, "stored through a mask"),
    "y[y > 0] = y.double().max().item()": (Change.BEHAVIOUR, "stored through a mask"),
    "y[[0, 1]] = (y > 0).sum().item()": (Change.BEHAVIOUR, "stored through a mask"),
    "y[y > 0] = y.max().item()": (Change.SAME_BITS, ""),
    "y[0] = (y > 0).sum().item()": (Change.SAME_BITS, ""),
    "y /= y.max().item()": (Change.ROUNDING, _RECIPROCAL),
    "y *= y.max().item()": (Change.SAME_BITS, ""),
}


def _change(body: str, folder: Path) -> tuple[Change, str]:
    """The largest change of the fixes of a program, and what they say."""
    code = (
        "import torch\n\n\n@torch.compile\n"
        f"def f(x: torch.Tensor, keep: torch.Tensor):\n    {body}\n"
    )
    (folder / "m.py").write_text(code)
    run = check_files([folder / "m.py"], Config(root=folder, select=("TCL101", "TCL102")))
    repairs = [one.repair for one in run.results]
    assert repairs, code
    assert None not in repairs, [one.diagnostic.declined for one in run.results]
    changes = [(one.change, one.changes) for one in repairs if one is not None]
    return max(changes, key=lambda one: [*Change].index(one[0]))


@pytest.mark.parametrize("use", _USES)
def test_a_use_says_how_far_it_changes(use: str, tmp_path: Path) -> None:
    expected, words = _USES[use]
    told = use.replace("COUNT", "#").replace("N", "x.max().item()")
    change, changes = _change("return " + told.replace("#", "(x > 0).sum().item()"), tmp_path)
    assert (change, words in changes) == (expected, True), changes


@pytest.mark.parametrize("store", _STORES)
def test_a_store_says_how_far_it_changes(store: str, tmp_path: Path) -> None:
    expected, words = _STORES[store]
    change, changes = _change(f"y = x.float()\n    {store}\n    return y", tmp_path)
    assert (change, words in changes) == (expected, True), changes
