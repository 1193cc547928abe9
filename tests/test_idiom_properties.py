"""What a page says of a formula and of the operator that does the same."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the proofs run torch")


def test_classes_outside_of_the_range_are_treated_differently() -> None:
    logits, last = torch.rand(1, 3), torch.tensor([-1])
    by_hand = -logits.log_softmax(1)[torch.arange(len(last)), last].mean()
    assert by_hand.isfinite()
    with pytest.raises((IndexError, RuntimeError)):
        torch.nn.functional.cross_entropy(logits, last)
