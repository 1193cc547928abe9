"""Tensors that are added where a mask selects: sums stay, gradients differ as the fix says."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
import torch

from .proof.fixing import fixed

HEAD = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, w: torch.Tensor):\n"
DTYPES = ("float16", "bfloat16", "float32", "float64")
ADDED = ("w.{}().sum()", "w.{}().max()", "torch.argmax(y)", "y.count_nonzero()", "(y > 0).sum()")
STORES = ("y[y > 0] += {}", "y[y > 0] -= {}", "y[y > 0] = y[y > 0] + {}")
SHAPES = ((1,), (7,), (3, 5))


def program(dtype: str, store: str, added: str) -> str:
    kind = {"float16": "half", "float32": "float", "float64": "double"}.get(dtype, dtype)
    return f"{HEAD}    y = x.{kind}() * 2\n    {store.format(added.format(kind))}\n    return y\n"


def function(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(text.replace("@torch.compile\n", ""), names)
    return names["f"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_are_the_same_and_gradients_are_close(dtype: str, tmp_path: Path) -> None:
    for store, added in itertools.product(STORES, ADDED):
        before = program(dtype, store, added)
        after = fixed(before, tmp_path, unsafe=True)
        assert "copy_(torch.where(" in after
        for shape in SHAPES:
            x, w = torch.randn(shape), torch.randn(4)
            results = []
            for text in (before, after):
                inputs = [x.clone().requires_grad_(), w.clone().requires_grad_()]
                result = function(text)(*inputs)
                result.sum().backward()
                results.append((result, *(one.grad for one in inputs)))
            (one, *slopes), (other, *others) = results
            assert one.dtype is other.dtype
            assert torch.equal(one, other)
            for slope, same in zip(slopes, others, strict=True):
                torch.testing.assert_close(slope, same, rtol=0.02, atol=0.02)


def test_what_has_a_gradient_is_not_added_by_a_safe_fix(tmp_path: Path) -> None:
    for store, added in itertools.product(STORES, ADDED):
        before = program("float32", store, added)
        changed = fixed(before, tmp_path) != before
        assert changed is not added.startswith("w")


@pytest.mark.parametrize(
    "body",
    [
        "y[y > 0] += w",
        "y[y > 0] += w[:1]",
        "y[y > 0] += w.sum().reshape(1)",
        "y[y > 0] *= w.sum()",
        "y[y > 0] += w.sum().add_(1)",
        "y[y > 0] += w.sum().mul_(y.add_(1).sum())",
        "y[w > 0] += w.sum()",
        "y[y.sum(-1) > 0] += w.sum()",
        "y[0][y[0] > 0] += w.sum()",
    ],
)
def test_what_may_be_another_sum_is_left(body: str, tmp_path: Path) -> None:
    before = f"{HEAD}    y = x.float() * 2\n    {body}\n    return y\n"
    after = fixed(before, tmp_path, unsafe=True)
    assert "copy_" not in after


@pytest.mark.parametrize(
    "body",
    [
        "x[x > 0] += w.sum()",
        "z = y[:]\n    z[z > 0] += w.sum()",
        "z = y.expand(4, -1)\n    z[z > 0] += w.sum()",
    ],
)
def test_what_others_may_hold_is_never_a_safe_fix(body: str, tmp_path: Path) -> None:
    before = f"{HEAD}    y = x.float() * 2\n    {body}\n    return y\n"
    assert "copy_" not in fixed(before, tmp_path, unsafe=False)
    assert "copy_" in fixed(before, tmp_path, unsafe=True)
