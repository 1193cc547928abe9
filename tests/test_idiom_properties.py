"""What replaces a formula gives what the formula gave, and gradients too, to rounding errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tclint.lint.rule import Bad, Rule

from .proof.cases import cases

torch = pytest.importorskip("torch", reason="the proofs run torch")

if TYPE_CHECKING:
    from collections.abc import Callable

_TOLERANCE = {
    torch.float64: {"rtol": 1e-7, "atol": 1e-9},
    torch.float32: {"rtol": 1e-5, "atol": 1e-5},
}
SIZES = st.integers(1, 6)
SEEDS = st.integers(0, 2**16)
SCALES = st.sampled_from([0.01, 1.0, 8.0])


def _is_idiom(rule: Rule, example: Bad) -> bool:
    return rule.code.startswith("TCL60") and example.unsafe is not None


def _inputs(code: str, rows: int, columns: int, scale: float) -> list[torch.Tensor]:
    """Random arguments for the rule's examples, in double precision."""
    x = torch.randn(rows, columns, dtype=torch.float64) * scale
    if code == "TCL607":
        return [x, torch.randint(columns, (rows,)), torch.rand(columns, dtype=torch.float64) + 0.1]
    return [x]


def _function(code: str) -> Callable[..., torch.Tensor]:
    names: dict[str, Any] = {}
    exec(
        "import math, torch, numpy as np\nimport torch.nn.functional as F\nfrom torch import nn\n"
        + code,
        names,
    )
    made = names["f"]
    return made().double() if isinstance(made, type) else made


def _run(code: str, inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    """The result, and the gradients of its weighted sum by the inputs of several dimensions."""
    function = _function(code)
    count = function.__code__.co_argcount if hasattr(function, "__code__") else 1
    learns = [one.is_floating_point() and one.ndim > 1 for one in inputs]
    given = zip(inputs[:count], learns[:count], strict=True)
    leaves = [one.clone().requires_grad_(learns) for one, learns in given]
    result = function(*leaves)
    weights = torch.linspace(-1, 1, result.numel(), dtype=result.dtype).reshape(result.shape)
    (result * weights).sum().backward()
    return [result.detach(), *(leaf.grad for leaf in leaves if leaf.grad is not None)]


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "example"), cases(Bad, where=_is_idiom))
@given(rows=SIZES, columns=SIZES, scale=SCALES, seed=SEEDS)
@settings(max_examples=15)
def test_same_results_and_gradients(
    rule: Rule, example: Bad, rows: int, columns: int, scale: float, seed: int
) -> None:
    assume(rule.code != "TCL607" or columns >= 3 or "< 3" not in example.code)
    torch.manual_seed(seed)
    columns = min(columns, 3) if "< 3" in example.code else columns
    inputs = _inputs(rule.code, rows, columns, scale)
    assert example.unsafe is not None
    before, after = _run(example.code, inputs), _run(example.unsafe, inputs)
    assert len(before) == len(after)
    for left, right in zip(before, after, strict=True):
        torch.testing.assert_close(left, right, **_TOLERANCE[left.dtype])


def test_classes_outside_of_the_range_are_treated_differently() -> None:
    logits, last = torch.rand(1, 3), torch.tensor([-1])
    by_hand = "def f(x, t):\n    return -x.log_softmax(1)[torch.arange(len(t)), t].mean()\n"
    assert _function(by_hand)(logits, last).isfinite()
    with pytest.raises((IndexError, RuntimeError)):
        torch.nn.functional.cross_entropy(logits, last)
