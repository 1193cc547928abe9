"""What a repair makes autograd keep must hold until the backward pass, or the pass raises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the programs run torch")

import torch

from .proof.fixing import fixed

HELPERS = """\
import operator
from functools import partial

import torch
import torch.nn.functional as F
from torch import nn

HELD = []


def write(held):
    held[0].add_(1)


def keep(tensor):
    HELD.append(tensor)


def write_what_is_kept():
    HELD[-1].add_(1)


def f(x: torch.Tensor):
    y = x.float() * 1
    held = y.view(-1)
    {body}
"""
CLAMPED = "if (y > 2).any():\n        y = torch.clamp(y, max=2)"
WRITES = {
    "a view": "held.add_(1)",
    "an operator": "held += 1",
    "an element": "held[0] = 7",
    "a loop": "for row in held:\n        row += 1",
    "rows": "first, *rest = held\n    first.zero_()",
    "a list": "write([held])",
    "getattr": "getattr(held, 'add_')(1)",
    "map": "list(map(torch.Tensor.neg_, [held]))",
    "a partial": "partial(torch.Tensor.add_, held)(1)",
    "many at once": "torch._foreach_add_([held], 1.0)",
    "the operator module": "operator.iadd(held, 1)",
    "an unbound method": "torch.Tensor.add_(held, 1)",
    "the operator of aten": "torch.ops.aten.add_(held, 1)",
    "a bound method": "add = held.add_\n    add(1)",
    "a dunder method": "held.__iadd__(1)",
    "a stored element": "held.__setitem__(0, 7)",
    "out": "torch.add(x, 1, out=held)",
    "an array": "array = held.detach().numpy()\n    array += 1\n    held += 0",
    "a layer": "nn.ReLU(inplace=True)(held)",
    "a function in place": "F.relu(held, inplace=True)",
    "a lambda": "add = lambda: held.add_(1)\n    add()",
    "its data": "held.data = x\n    held.t_()",
    "what it was": "z, y = y, held\n    y.add_(1)\n    y = z",
}
CHOICES = {
    "a branch": CLAMPED,
    "an expression": "y = torch.clamp(y, max=2) if (y > 2).any() else y",
    "two ways": "y = torch.clamp(y, max=2) if (y > 2).any() else -y",
    "a way that may be NaN": "if (y > 2).any():\n        y = torch.log(y)",
    "a loop": "for _ in range(2):\n        if (y > 2).any():\n            y = y.clamp(max=2)",
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_written_later_is_not_kept(write: str, tmp_path: Path) -> None:
    body = f"{CHOICES['two ways']}\n    {write}\n    return y"
    _assert_backward_stays(HELPERS.format(body=body), tmp_path, "TCL160")


@pytest.mark.parametrize("choice", CHOICES.values(), ids=CHOICES)
def test_a_choice_keeps_nothing_that_is_written(choice: str, tmp_path: Path) -> None:
    body = f"{choice}\n    {WRITES['what it was']}\n    return y"
    _assert_backward_stays(HELPERS.format(body=body), tmp_path, "TCL160")


PROGRAMS = {
    "a condition that is written": (
        "flag = (x > 0).any()\n    if flag:\n        y = -y\n    flag.zero_()\n    return y"
    ),
    "a condition that an operator writes": (
        "flag = (x > 0).any()\n    if not flag:\n        y = y * 2\n    flag &= False\n    return y"
    ),
    "a condition of inference": (
        "with torch.inference_mode():\n        flag = (x > 0).any()\n"
        "    if flag:\n        y = -y\n    return y"
    ),
    "a global list": f"keep(y)\n    {CLAMPED}\n    write_what_is_kept()\n    return y",
    "an attribute": f"keep.held = y\n    {CLAMPED}\n    keep.held.add_(1)\n    return y",
    "a closure": (
        "def write_it():\n        y.add_(1)\n"
        "    z = torch.clamp(y, max=2) if (y > 2).any() else -y\n    write_it()\n    return z"
    ),
    "the variable itself": (
        "z = torch.clamp(y, max=2) if (y > 2).any() else -y\n    y += 1\n    return z"
    ),
    "a write in the end": (
        f"try:\n        {CLAMPED.replace(chr(10), chr(10) + '    ')}\n"
        "    finally:\n        held.add_(1)\n    return y"
    ),
    "a write at the beginning of a loop": (
        "for _ in range(2):\n        held += 1\n        if (y > 2).any():\n"
        "            y = torch.clamp(y, max=2)\n    return y"
    ),
    "a result that is written": (
        "if (y > 2).any():\n        y = torch.relu(y)\n    y += 1\n    return y"
    ),
    "nothing is written": f"{CLAMPED}\n    return y + held.sum()",
    "something else is written": f"{CLAMPED}\n    z = y * 2\n    z += 1\n    return z",
}


@pytest.mark.parametrize("body", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_still_computes_its_gradients(body: str, tmp_path: Path) -> None:
    _assert_backward_stays(HELPERS.format(body=body), tmp_path, "TCL160")


STORES = {
    "of the tensor itself": "y[y > 1] = y[y > 1].clamp(max=2)\n    return y",
    "of the tensor itself, added": "y[y > 1] += y[y > 1].abs()\n    return y",
    "a product": "y[y > 1] *= y[y > 1]\n    return y",
    "a power, added": "y[y > 1] -= y[y > 1] ** 2\n    return y",
    "a number over it": "y[y > 1] = 3 / y[y > 1]\n    return y",
    "with another": "z = y.clone()\n    y[y > 1] = y[y > 1] * z[y > 1]\n    z += 1\n    return y",
    "of another": "z = y.clone()\n    y[y > 1] = z[y > 1].abs()\n    z.zero_()\n    return y",
    "of another that stays": "z = y.clone()\n    y[y > 1] = z[y > 1].abs()\n    return y",
    "that keeps nothing": "y[y > 1] = y[y > 1] * 3\n    return y",
    "by a mask that is written": (
        "mask = y > 1\n    y[mask] = y[mask] * 3\n    mask.zero_()\n    return y"
    ),
}


@pytest.mark.parametrize("body", STORES.values(), ids=STORES)
def test_a_store_by_a_mask_still_has_its_gradients(body: str, tmp_path: Path) -> None:
    _assert_backward_stays(HELPERS.format(body=body), tmp_path, "TCL170")


@pytest.mark.parametrize("result", ["y", "y + 1", "(y, x)"])
def test_the_caller_may_write_what_a_safe_fix_leaves(result: str, tmp_path: Path) -> None:
    code = HELPERS.format(body=f"y = x.float()\n    {CLAMPED}\n    return {result}")
    assert _fixed(code, tmp_path, "TCL160", unsafe=False) == code
    assert _fixed(code, tmp_path, "TCL160", unsafe=True) != code


def test_what_nobody_else_holds_is_kept_safely(tmp_path: Path) -> None:
    code = HELPERS.format(body=f"{CLAMPED}\n    return y").replace("    held = y.view(-1)\n", "")
    text = _fixed(code, tmp_path, "TCL160", unsafe=False)
    assert "torch.where" in text
    assert _seen(code, written_after=True) == _seen(text, written_after=True)


def _assert_backward_stays(code: str, folder: Path, rule: str) -> None:
    """A safe fix changes nothing, an unsafe one brings no exception."""
    found = _seen(code)
    assert _seen(_fixed(code, folder, rule, unsafe=False)) == found
    unsafe = _seen(_fixed(code, folder, rule, unsafe=True))
    for before, after in zip(found, unsafe, strict=True):
        assert not isinstance(after, str) or isinstance(before, str)


def _fixed(code: str, folder: Path, rule: str, *, unsafe: bool) -> str:
    return fixed(code, folder, unsafe=unsafe, select=(rule,), compiled=("*:f",), weak=True)


def _seen(code: str, *, written_after: bool = False) -> list[Any]:
    """The gradients of two calls, or the type of what is raised instead."""
    names: dict[str, Any] = {}
    exec(compile(code, "program.py", "exec"), names)
    return [_gradient(names["f"], one, written_after) for one in ([1.0, 3.0], [-1.0, -3.0])]


def _gradient(function: Any, numbers: list[float], written_after: bool) -> Any:
    leaf = torch.tensor(numbers, requires_grad=True)
    given = leaf * 1
    try:
        result = function(given)
        if written_after:
            with torch.no_grad():
                given.add_(1)
                result.add_(1)
        result.sum().backward()
    except RuntimeError as error:
        return type(error).__name__
    return None if leaf.grad is None else leaf.grad.tolist()
