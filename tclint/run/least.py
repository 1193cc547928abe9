"""The least time that work can take at the rates of a device: the arithmetic, and the traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tclint.run.device_work import PRECISE, Work
from tclint.run.operations import arithmetic, least_bytes
from tclint.run.rates import Rates

BF16 = "bfloat16"
_S = 1e3
"""Milliseconds of a second."""
_TRAFFIC: Mapping[str, int] = {"SGD": 3, "Adagrad": 5, "RMSprop": 5, "Lion": 5}
_ADAM = 7
"""How often an optimizer's step reads or writes each parameter, gradient and state at least."""


class Least:
    """Works out the least for parts of the work of some steps, in milliseconds of all of them."""

    def __init__(self, works: Sequence[Work], rates: Rates) -> None:
        """Keep all of the work: what lies between products rests on these."""
        self._rates = rates
        self._heavy = [work for work in works if work.kind in PRECISE]

    def products(self, works: Sequence[Work], precision: str = "") -> float:
        """Of products: each is bound by its arithmetic, or by what it reads and writes.

        With another ``precision`` numbers of 16 bits move half of the bytes.
        """
        return sum(self._product(work, precision) for work in works)

    def arithmetic(self, works: Sequence[Work]) -> float:
        """Of the arithmetic alone."""
        return sum(arithmetic(work.call) / self._rates.of(work.precision) * _S for work in works)

    def _product(self, work: Work, precision: str) -> float:
        counted = arithmetic(work.call)
        if not counted:
            return work.ms
        smaller = 2 if precision == BF16 and work.call.dtype == "float" else 1
        seconds = counted / self._rates.of(precision or work.precision)
        moved = least_bytes(work.call) / smaller / self._rates.bandwidth
        return min(work.ms, max(seconds, moved) * _S)

    def attention(self, works: Sequence[Work]) -> float:
        """Of attention that is written out: its products, without what is between them.

        Where scores are masked, half of them may be: those of what comes later.
        """
        masked = any("masked" in work.call.name for work in works)
        return self.arithmetic(works) * (0.5 if masked else 1.0)

    def glue(self, works: Sequence[Work]) -> float:
        """Of what lies between products, fused: what they give is read once, and written once.

        It is never more than these kernels move themselves. Those of a CUDA graph, of which nobody
        knows what they move, take what they take.
        """
        known = [work for work in works if work.call.tensors]
        unknown = sum(work.ms for work in works if not work.call.tensors)
        between = sum(least_bytes(work.call) for work in self._heavy)
        moved = sum(least_bytes(work.call) for work in known)
        spent = sum(work.ms for work in known)
        least = min(between, moved) if between else _one_pass(known)
        return unknown + min(spent, least / self._rates.bandwidth * _S)

    def optimizer(self, works: Sequence[Work]) -> float:
        """Of an optimizer's step: each parameter, gradient and state once."""
        spent = sum(work.ms for work in works)
        if not works:
            return 0.0
        times = _TRAFFIC.get(works[0].optimizer, _ADAM)
        held = _updated(works)
        return min(spent, times * held / self._rates.bandwidth * _S)


def _one_pass(works: Sequence[Work]) -> float:
    """Bytes of the largest call: with no products between, all could be one kernel."""
    return max((least_bytes(work.call) for work in works), default=0.0)


def _updated(works: Sequence[Work]) -> float:
    """Bytes of all parameters that the steps update: those that the most frequent call is given."""
    calls: dict[str, float] = {}
    for work in works:
        given = work.call.arguments[0] if work.call.arguments else ()
        size = float(sum(tensor.size for tensor in given))
        calls[work.call.name] = calls.get(work.call.name, 0.0) + size
    writing = [size for name, size in calls.items() if "addc" in name or "fused" in name]
    return max(writing or calls.values(), default=0.0)
