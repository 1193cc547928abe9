"""Is compiled code the same as eager code but for other random numbers, drawn alike?

An unsafe fix may have compiled code draw with torch where eager code draws with numpy. Results
cannot be equal then. Instead two things have to hold. Compiled code gives what the same code gives
without a compiler on the way that compiled code takes. And over many seeds, the losses on that way
have the mean and the spread of those of eager code. Only models whose eager results depend on
numpy's generator are judged like this.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Protocol
from unittest.mock import patch

import numpy as np
import torch

from benchmarks.repair.record import DRAWN
from tclint.verify.equality import compare
from tclint.verify.snapshot import Snapshot

_SEEDS: Final = 60
_ERRORS: Final = 4.0
"""Standard errors by which two means may differ."""
_SPREAD: Final = (0.5, 2.0)
_IS_COMPILING: Final = "torch.compiler.is_compiling"


class Drawing(Protocol):
    """A model that can be called with a seed, and run as `measure` runs it."""

    def results(self, *, double: bool = False) -> dict[str, Snapshot]:
        """What its eager calls give."""

    def loss(self, reseed: Callable[[], None]) -> float:
        """The loss of one eager call, whose generators are seeded, and then by ``reseed``."""


def drawn_alike(model: Drawing, compiled: dict[str, Snapshot]) -> str | None:
    """What is known of compiled code that draws other numbers; None where it may be wrong."""
    if not _draws_with_numpy(model):
        return None
    with _on_the_way_of_compiled_code():
        way = model.results()
        if compare(way, compiled).verdict != "identical":
            truth = model.results(double=True)
            if compare(way, compiled, truth).verdict != "close":
                return None
        other = [*_losses(model)]
    return _told([*_losses(model)], other)


def _draws_with_numpy(model: Drawing) -> bool:
    losses = {model.loss(lambda number=number: np.random.seed(number)) for number in range(8)}
    return len(losses) > 1


@contextmanager
def _on_the_way_of_compiled_code() -> Iterator[None]:
    with patch(_IS_COMPILING, return_value=True):
        yield


def _losses(model: Drawing) -> Iterator[float]:
    for number in range(_SEEDS):
        yield model.loss(lambda number=number: _seed(number))


def _seed(number: int) -> None:
    np.random.seed(number)
    torch.manual_seed(number)


def _told(losses: Sequence[float], others: Sequence[float]) -> str | None:
    """The means, if they and the spreads are as near as those of so many draws are."""
    one, other = statistics.fmean(losses), statistics.fmean(others)
    spread, again = statistics.stdev(losses), statistics.stdev(others)
    error = ((spread**2 + again**2) / _SEEDS) ** 0.5
    near = abs(one - other) <= _ERRORS * error
    if not near or not spread * _SPREAD[0] <= again <= spread * _SPREAD[1]:
        return None
    return f"{DRAWN}: mean loss {one:.4g}, then {other:.4g}, {abs(one - other) / error:.1f} errors"


def number_of(result: Any) -> float:
    """The loss of a result, or the mean of its first tensor."""
    loss = getattr(result, "loss", None)
    if isinstance(loss, torch.Tensor):
        return float(loss.detach().float().mean())
    values = result.values() if hasattr(result, "values") else result
    first = next(value for value in values if isinstance(value, torch.Tensor))
    return float(first.detach().float().mean())
