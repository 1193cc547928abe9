"""Operations that give other bits for a tensor without dimensions than for its number."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the operations are torch's")

from benchmarks.zero_dim import OPERATIONS, measure
from tclint.torch_facts.zero_dim import ROUNDED, rounded_with_tensor


def test_all_others_give_the_same_bits_on_the_cpu() -> None:
    differ = {name for name, row in measure("cpu").items() if any(row.values())}
    assert differ <= ROUNDED.keys() <= OPERATIONS.keys()
    assert {"rdiv", "pow"} <= differ


def test_other_names_of_an_operation_have_its_fact() -> None:
    assert rounded_with_tensor("true_divide") == rounded_with_tensor("div") is not None
    assert rounded_with_tensor("add") is None
