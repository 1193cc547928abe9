"""Compiled code that draws other numbers is told from code that draws them otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from benchmarks.repair.drawn import drawn_alike, number_of
from benchmarks.repair.record import DRAWN
from tclint.verify.snapshot import Snapshot, take

if TYPE_CHECKING:
    from collections.abc import Callable


class Model:
    """A loss that is drawn with numpy, and with torch where code is compiled."""

    def __init__(self, draw: Callable[[], float], instead: Callable[[], float]) -> None:
        self._draw, self._instead = draw, instead

    def _once(self) -> float:
        return self._instead() if torch.compiler.is_compiling() else self._draw()

    def loss(self, reseed: Callable[[], None]) -> float:
        torch.manual_seed(0)
        np.random.seed(0)
        reseed()
        return self._once()

    def results(self, *, double: bool = False) -> dict[str, Snapshot]:
        torch.manual_seed(0)
        return {"call 0": take(torch.tensor(self._once(), dtype=torch.float64))}


def numpys() -> float:
    return float(np.random.rand(8).mean())


def torchs() -> float:
    return float(torch.rand(8).double().mean())


def compiled(draw: Callable[[], float]) -> dict[str, Snapshot]:
    torch.manual_seed(0)
    return {"call 0": take(torch.tensor(draw(), dtype=torch.float64))}


def test_numbers_that_are_drawn_alike_are_the_same_but_for_that() -> None:
    told = drawn_alike(Model(numpys, torchs), compiled(torchs))
    assert told is not None
    assert told.startswith(DRAWN)


@pytest.mark.parametrize(
    ("draw", "instead", "run"),
    [
        (numpys, lambda: torchs() + 0.2, lambda: torchs() + 0.2),
        (numpys, lambda: 0.5 + (torchs() - 0.5) / 4, lambda: 0.5 + (torchs() - 0.5) / 4),
        (numpys, lambda: 0.5, lambda: 0.5),
        (numpys, torchs, lambda: torchs() * 1.01),
        (lambda: 0.5, torchs, torchs),
        (torchs, torchs, lambda: 0.4),
    ],
    ids=["another mean", "less spread", "no draw", "compiled otherwise", "no draw before", "torch"],
)
def test_what_may_be_wrong_is_not_called_the_same(
    draw: Callable[[], float], instead: Callable[[], float], run: Callable[[], float]
) -> None:
    assert drawn_alike(Model(draw, instead), compiled(run)) is None


def test_a_result_without_a_loss_gives_the_mean_of_its_first_tensor() -> None:
    assert number_of((torch.tensor([1.0, 3.0]), torch.zeros(2))) == 2
    assert number_of({"x": torch.tensor([1, 2])}) == 1.5
