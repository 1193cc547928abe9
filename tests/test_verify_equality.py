"""Freezing and comparing results: values, kinds, exceptions, tolerance."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tclint.verify.equality import compare  # noqa: E402
from tclint.verify.snapshot import Nest, Raised, TensorLeaf, outcome, take  # noqa: E402

Pair = namedtuple("Pair", "left right")


@dataclass
class Output:
    loss: Any
    logits: Any


def verdict(one: object, other: object) -> str:
    return str(compare({"call 1": take(one)}, {"call 1": take(other)}).verdict)


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(6.0).reshape(2, 3),
        torch.tensor([float("nan"), float("inf"), -float("inf")]),
        torch.tensor([1 + 2j]),
        torch.zeros(0),
        torch.tensor([True, False]),
        torch.eye(3).to_sparse(),
        torch.ones(2, dtype=torch.bfloat16),
        [1, 2.5, "text", None, b"bytes", {"key": (torch.ones(2),)}],
        Pair(torch.ones(1), 2),
        OrderedDict(a=torch.ones(1)),
        Output(torch.ones(()), [torch.ones(2)]),
        float("nan"),
        (),
    ],
    ids=lambda value: type(value).__name__,
)
def test_equal_values_are_identical(value: object) -> None:
    assert verdict(value, value) == "identical"


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (torch.ones(2), torch.ones(3), "shape"),
        (torch.ones(2), torch.ones(2, dtype=torch.float64), "dtype"),
        (torch.ones(2), torch.ones(2, requires_grad=True), "requires_grad"),
        (torch.ones(2), torch.full((2,), 1.1), "off by 0.1"),
        (torch.tensor([1, 2]), torch.tensor([1, 3]), "1 of 2"),
        (torch.tensor([1.0, float("nan")]), torch.tensor([1.0, 2.0]), "NaN or infinity"),
        (torch.tensor(float("inf")), torch.tensor(-float("inf")), "NaN or infinity"),
        (2.0, torch.tensor(2.0), "2.0, then a tensor"),
        (1, True, "1, then True"),
        ([1], (1,), "list with 1 parts, then"),
        ({"a": 1}, {"b": 1}, "dict"),
        ("a", "b", "'a', then 'b'"),
        (None, 0, "None, then 0"),
    ],
)
def test_a_difference_is_found_and_named(one: object, other: object, said: str) -> None:
    found = compare({"call 1": take(one)}, {"call 1": take(other)})
    assert found.verdict == "different"
    assert found.equal is False
    assert said in found.detail


def test_small_errors_are_close_and_measured() -> None:
    one = torch.tensor([100.0, 1e-3])
    found = compare({"call 1": take(one)}, {"call 1": take(one + 1e-3)})
    assert found.verdict == "close"
    assert found.equal is True
    assert found.max_abs == pytest.approx(1e-3, rel=0.1)
    assert found.max_rel == pytest.approx(1e-5, rel=0.1)
    assert found.tolerance == 1e-4


def test_nested_differences_are_located() -> None:
    found = compare({"call 2": take({"a": [1, 2]})}, {"call 2": take({"a": [1, 3]})})
    assert found.detail == "call 2['a'][1]: 2, then 3"


def test_objects_alone_cannot_be_compared() -> None:
    found = compare({"call 1": take(object())}, {"call 1": take(object())})
    assert found.verdict == "unknown"
    assert found.equal is None


def test_a_copy_is_independent_of_later_changes() -> None:
    value = torch.zeros(2)
    frozen = take(value)
    value.add_(1)
    assert compare({"call 1": frozen}, {"call 1": take(value)}).verdict == "different"


def fail(error: Exception) -> object:
    raise error


def test_exceptions_compare_by_type_and_message() -> None:
    def seen(one: Exception, other: Exception) -> str:
        results = [{"call 1": outcome(lambda e=e: fail(e))} for e in (one, other)]
        return str(compare(*results).verdict)

    assert seen(ValueError("bad"), ValueError("bad")) == "identical"
    assert seen(ValueError("bad"), ValueError("worse")) == "different"
    assert seen(ValueError("bad"), TypeError("bad")) == "different"


def test_an_exception_is_an_outcome_but_a_full_memory_is_not() -> None:
    assert outcome(lambda: fail(KeyError("k"))) == Raised("builtins.KeyError", "'k'")
    with pytest.raises(MemoryError):
        outcome(lambda: fail(MemoryError()))


def test_a_missing_call_is_a_difference() -> None:
    assert compare({"call 1": take(1), "call 2": take(1)}, {"call 1": take(1)}).equal is False


def _counted(step: float, device: str, *, average: str = "cpu") -> dict[str, Any]:
    leaves = (("step", TensorLeaf(torch.tensor(step), device, False)),)
    leaves += (("exp_avg", TensorLeaf(torch.ones(2), average, False)),)
    return {"optimizer": Nest("dict", ((0, Nest("dict", leaves)),))}


def test_a_count_of_steps_that_moved_to_the_gpu_is_told_and_no_difference() -> None:
    moved = compare(_counted(3.0, "cpu"), _counted(3.0, "cuda"))
    assert (moved.verdict, moved.detail) == (
        "identical",
        "moved: optimizer[0]['step'] from cpu to cuda",
    )
    other = compare(_counted(3.0, "cpu"), _counted(4.0, "cuda"))
    assert other.detail.startswith("optimizer[0]['step']: off by 1")
    average = compare(_counted(3.0, "cpu"), _counted(3.0, "cpu", average="cuda"))
    assert average.detail == "optimizer[0]['exp_avg']: device cpu, then cuda"
    state = compare({"state": take(torch.ones(()))}, {"state": _on_cuda(torch.ones(()))})
    assert state.detail == "state: device cpu, then cuda"


def _on_cuda(value: Any) -> TensorLeaf:
    return TensorLeaf(value, "cuda", False)


@pytest.mark.parametrize(
    ("off", "verdict"), [(2e-9, "close"), (9e-8, "close"), (2e-7, "different")]
)
def test_one_number_may_be_as_far_off_as_its_type_allows(off: float, verdict: str) -> None:
    # Eager code came out exact by luck: three times nothing is nothing.
    true = torch.tensor(1.5e-3, dtype=torch.float64)
    expected, actual = true.float(), (true + off).float()
    runs = ({"call 1": take(x)} for x in (expected, actual, true))
    assert compare(*runs).verdict == verdict
