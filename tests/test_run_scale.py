"""The classes of a change by its losses, and of a fix by what is measured of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tclint.run.arms import Arm
from tclint.run.intervals import Interval
from tclint.run.proof import Proof, _change
from tclint.run.recorded import Loss, Place
from tclint.run.report import words
from tclint.run.scale import BEHAVIOUR, PRECISION, ROUNDING, SAME, change_of

LOSSES = [1.5, 1.25, 1.125, 1.0625]
ULP = 2.0**-23


def hexed(losses: Sequence[float]) -> list[str]:
    return [loss.hex() for loss in losses]


def off(by: Sequence[float]) -> list[str]:
    return hexed([loss * (1 + one) for loss, one in zip(LOSSES, by, strict=True)])


@pytest.mark.parametrize(
    ("after", "nudged", "change"),
    [
        ([0, 0, 0, 0], [], SAME),
        ([0, ULP, ULP, ULP], [0, 0, ULP, ULP], ROUNDING),
        ([ULP, 7e-8, 2e-7, 1e-6], [0, 0, 1e-7, 5e-7], ROUNDING),
        ([0, 0, 0, 1e-3], [0, 0, ULP, ULP], PRECISION),
        ([0, 0, 0, 1e-3], [0, 0, 1e-5, 5e-4], ROUNDING),
        ([0, 1e-3, 1e-3, 1e-3], [0, 0, ULP, ULP], PRECISION),
        ([0, 0.3, 0.3, 0.3], [0, 0, ULP, ULP], BEHAVIOUR),
        ([0, 0.3, 0.3, 0.3], [], BEHAVIOUR),
        ([0, float("nan"), 0, 0], [0, 0, 0, 0], BEHAVIOUR),
    ],
)
def test_losses_have_a_class(after: list[float], nudged: list[float], change: str) -> None:
    before = hexed([*LOSSES, 1 + ULP])
    told = [*off(after), (1 + ULP).hex()]
    one_bit = [*off(nudged), (1 + ULP).hex()] if nudged else []
    assert change_of(before, told, one_bit) == change


def test_losses_in_half_precision_are_off_by_more_for_rounding_alone() -> None:
    assert change_of(hexed([1.5, 1.25]), hexed([1.5078125, 1.25]), hexed([1.5, 1.25])) == ROUNDING


def arm(step: Interval, *rounds: Sequence[float]) -> Arm:
    place = Place("train.py", 1, "train")
    losses = [tuple(Loss(n, one.hex(), place) for n, one in enumerate(each)) for each in rounds]
    return Arm((step, step), step, tuple(losses), 0)


def proof(before: Interval, after: Interval) -> Proof:
    return Proof(None, arm(before, LOSSES), arm(after, LOSSES), SAME, "same")  # type: ignore[arg-type]


def test_the_worst_of_all_rounds_is_the_class() -> None:
    step = Interval(1, 1, 1)
    other = [loss * 2 for loss in LOSSES]
    found = _change(arm(step, LOSSES, LOSSES), arm(step, LOSSES, other), hexed(LOSSES))
    assert found == BEHAVIOUR
    fewer = _change(arm(step, LOSSES), arm(step, LOSSES[:2]), hexed(LOSSES))
    assert fewer == BEHAVIOUR


def test_wide_intervals_are_no_verdict() -> None:
    wide = proof(Interval(4, 3, 12), Interval(10, 8, 13))
    assert words.speed(wide) == "no verdict: runs differ too much"
    assert words.speed(proof(Interval(4, 3.9, 4.1), Interval(2, 1.9, 2.1))) == "2x"
    even = proof(Interval(4, 3.95, 4.05), Interval(4, 3.95, 4.05))
    assert words.speed(even) == "no difference that can be told"
