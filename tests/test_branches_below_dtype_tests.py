"""Branches on tensors below a test of their dtype: what a safe fix makes of them is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tclint.config import Config
from tclint.fix.apply import fix_files

torch = pytest.importorskip("torch", reason="the proofs run torch")

from .proof.witness import unlike, witness  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

CLAMPED = "torch.clamp(y, min=-60000, max=60000)"
INFINITE = "(torch.isinf(y).any() or torch.isnan(y).any())"
LIMIT = "torch.finfo(y.dtype).max - 1000"
# Each is a body that computes ``y``; safe fixes may leave it, and may not change what it gives.
BODIES = {
    "one test": f"if y.dtype == torch.float16 and {INFINITE}:\n        y = {CLAMPED}",
    "a limit that is computed": f"if y.dtype == torch.float16 and {INFINITE}:\n"
    f"        top = {LIMIT}\n        y = torch.clamp(y, min=-top, max=top)",
    "two tests": f"if y.dtype == torch.float16:\n        if torch.isinf(y).any():\n"
    f"            y = {CLAMPED}",
    "the tensor first": "if y.isinf().any() and y.dtype == torch.float16:\n        y = y / 3",
    "or": f"if y.dtype == torch.float16 or torch.isinf(y).any():\n        y = {CLAMPED}",
    "not": f"if not (y.dtype != torch.float16 or torch.isfinite(y).all()):\n        y = {CLAMPED}",
    "one of two dtypes": "if y.dtype in (torch.float16, torch.bfloat16) and y.isinf().any():\n"
    "        y = y.nan_to_num(0.0)",
    "floating point": f"if y.is_floating_point() and y.abs().max() > 100:\n        y = {CLAMPED}",
    "an else": f"if y.dtype == torch.float16 and y.isinf().any():\n        y = {CLAMPED}\n"
    "    else:\n        y = y + 1",
    "another dtype": "if y.dtype == torch.float16 and y.isinf().any():\n        y = y.float()",
    "two variables": f"z = y\n    if y.dtype == torch.float16 and y.isinf().any():\n"
    f"        y, z = {CLAMPED}, y * 2\n    y = y + z",
    "a store in place": "if y.dtype == torch.float16 and y.isinf().any():\n"
    "        y.clamp_(-60000, 60000)",
    "an alias": "z = [y]\n    if y.dtype == torch.float16 and y.isinf().any():\n        y = y / 3\n"
    "    z[0].add_(1)",
    "the new one is written": f"z = y\n    if y.dtype == torch.float16 and y.isinf().any():\n"
    f"        y = {CLAMPED}\n    y.add_(1)\n    y = y + z",
    "it raises": "if y.dtype == torch.float16 and y.isinf().any():\n"
    "        raise ValueError('infinite')",
    "it prints": f"if y.dtype == torch.float16 and y.isinf().any():\n        print('infinite')\n"
    f"        y = {CLAMPED}",
    "it draws": "if y.dtype == torch.float16 and y.isinf().any():\n        y = torch.rand_like(y)",
    "another shape": "if y.dtype == torch.float16 and y.isinf().any():\n        y = y.sum()",
    "an integer test": "if y.dtype == torch.float16 and (y > 2).sum():\n        y = y / 3",
    "a test that raises": "if y.dtype == torch.float16 and y.isinf():\n        y = y / 3",
    "a division by it": "if y.dtype == torch.float16 and y.min() > 0:\n        y = 1 / y",
    "a flag": f"if torch.is_grad_enabled() and y.isinf().any():\n        y = {CLAMPED}",
}  # fmt: skip
FIXED = {
    "one test", "a limit that is computed", "two tests", "the tensor first", "floating point",
    "it raises", "it prints", "a flag",
}  # fmt: skip
NUMBERS = ([1.0, 2.0, 70000.0], [1.0, float("inf")], [float("nan"), 3.0], [0.5], [], [-2.0, 2.0])


@pytest.mark.parametrize("name", BODIES)
def test_nothing_else_changes(name: str, tmp_path: Path) -> None:
    code, after = _fixed(BODIES[name], tmp_path)
    assert (after is not None) is (name in FIXED)
    if after is not None:
        found = unlike(witness(code, _calls()), witness(after, _calls()))
        assert found is None, f"{found}\n{after}"


FIRST = "if torch.isinf(y).any() and y.dtype == torch.float16:\n"
CLAMPS = f"        y = {CLAMPED}"
# What asks the tensor before its dtype: none of these bodies may come out otherwise.
TENSOR_FIRST = {
    "isinf": FIRST + CLAMPS,
    "isnan": "if torch.isnan(y).any() and y.dtype is torch.float16:\n        y = y / 3",
    "floating point": f"if torch.isinf(y).any() and y.is_floating_point():\n{CLAMPS}",
    "two tensors": f"if torch.isinf(y).any() and torch.isnan(y).any() and y.dtype == torch.half:\n"
    f"{CLAMPS}",
    "a flag, too": f"if torch.is_grad_enabled() and torch.isinf(y).any() and y.dtype == "
    f"torch.float16:\n{CLAMPS}",
    "in the middle": f"if torch.isinf(y).any() and y.dtype == torch.float16 and torch.isnan(y)"
    f".any():\n{CLAMPS}",
    "a limit": f"{FIRST}        top = {LIMIT}\n        y = torch.clamp(y, min=-top, max=top)",
    "another variable": "z = y.float()\n    if torch.isinf(y).any() and z.dtype == torch.float32:"
    f"\n{CLAMPS}",
    "a flag behind": f"if torch.isinf(y).any() and torch.is_grad_enabled() and y.dtype == "
    f"torch.float16:\n{CLAMPS}",
    "it raises before": f"if torch.isinf(y.view(2, -1)).any() and y.dtype == torch.float16:\n"
    f"{CLAMPS}",
    "it asks one number": f"if torch.isinf(y) and y.dtype == torch.float16:\n{CLAMPS}",
    "it draws": f"if (torch.rand(()) > 0.5) and y.dtype == torch.float16:\n{CLAMPS}",
    "it writes": f"if y.add_(1).isinf().any() and y.dtype == torch.float16:\n{CLAMPS}",
    "or": f"if torch.isinf(y).any() or y.dtype == torch.float16:\n{CLAMPS}",
    "not this dtype": f"if torch.isinf(y).any() and y.dtype != torch.float16:\n{CLAMPS}",
    "not": f"if not (torch.isinf(y).any() and y.dtype == torch.float16):\n{CLAMPS}",
    "an else": f"{FIRST}{CLAMPS}\n    else:\n        y = y + 1",
    "a named value": f"if (bad := torch.isinf(y).any()) and y.dtype == torch.float16:\n{CLAMPS}\n"
    "    y = y + bad",
    "an index": f"if torch.isinf(y[0]) and y.dtype == torch.float16:\n{CLAMPS}",
    "an elif": f"if y.numel() == 3:\n        y = y + 1\n    el{FIRST}{CLAMPS}",
    "an alias": f"z = y\n    {FIRST}{CLAMPS}\n    y = y + z",
}  # fmt: skip
FIXED_UNSAFELY = {
    "isinf", "isnan", "floating point", "two tensors", "a flag, too", "in the middle", "a limit",
    "an elif", "an alias",
}  # fmt: skip


@pytest.mark.parametrize("name", TENSOR_FIRST)
def test_a_dtype_may_be_asked_before_the_tensor(name: str, tmp_path: Path) -> None:
    code, fixed = _fixed(TENSOR_FIRST[name], tmp_path, unsafe=True)
    after = fixed or code
    assert ("torch.where" in after) is (name in FIXED_UNSAFELY), after
    if name in FIXED_UNSAFELY:
        found = unlike(witness(code, _calls()), witness(after, _calls()))
        assert found is None, f"{found}\n{after}"


def _fixed(body: str, folder: Path, *, unsafe: bool = False) -> tuple[str, str | None]:
    """The program with this body, and what fixing makes of it, if anything."""
    code = f"import torch\n\n\ndef f(x):\n    y = x * 1\n    {body}\n    return y\n"
    path = folder / "program.py"
    path.write_text(code, encoding="utf-8")
    config = Config(folder, select=("TCL1",), weak=True, compiled=("*:f",))
    changed = fix_files([path], config, unsafe=unsafe).changed
    return code, changed[0].after if changed else None


def _calls() -> list[tuple[Any, ...]]:
    dtypes = (torch.float16, torch.float32, torch.bfloat16)
    inputs = [torch.tensor(numbers, dtype=dtype) for numbers in NUMBERS for dtype in dtypes]
    return [(one,) for one in inputs] + [(one.clone().requires_grad_(),) for one in inputs]
