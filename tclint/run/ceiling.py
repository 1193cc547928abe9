"""The ceiling of a step: the same arithmetic and the least traffic at this device's rates."""

from __future__ import annotations

from collections.abc import Sequence

from tclint.records import record
from tclint.report.rounded import rounded
from tclint.run.device_work import PRECISE, Kind, Work, gpu_work
from tclint.run.kernels import waiting_for_data
from tclint.run.least import Least
from tclint.run.operations import arithmetic
from tclint.run.outlook import Ceiling
from tclint.run.rates import Rates
from tclint.run.spans import MICRO, Event, steps_in

_WAITS = 0.05
"""The share of a step from which on it waits for the loader's workers."""
_WORKERS = "_MultiProcessingDataLoaderIter"
_TERA, _GIGA = 1e12, 1e9


@record(frozen=True)
class Demand:
    """What a step asks of the device, in milliseconds, and of whom.

    ``arithmetic`` and ``memory`` add up to the roofline; ``launches`` are those of the kernels
    that are left when all that can be is fused; ``loading`` is the time of the input pipeline.
    """

    arithmetic: float
    memory: float
    launches: float
    loading: float
    kernels: float
    words: str


def demand_of(events: Sequence[Event], steps: int, step_ms: float, rates: Rates) -> Demand | None:
    """What the profiled steps ask for; None where nothing is seen of their operations."""
    steps = steps_in(events, steps)
    works = gpu_work(events)
    if not any(work.call.tensors for work in works):
        return None
    least = Least(works, rates)
    heavy, rest = _apart(works)
    parts = _glue(rest, least)
    by_hand = least.attention([work for work in works if work.kind is Kind.BY_HAND])
    seconds = (least.arithmetic(heavy) + by_hand) / steps
    # Each product is bound by one of the two: what is not arithmetic of it is traffic.
    memory = (least.products(heavy) + by_hand + parts) / steps
    kernels = _kernels_left(heavy, rest) / steps
    return Demand(
        min(seconds, memory),
        max(0.0, memory - seconds),
        kernels * rates.node * MICRO,
        _loading(events, steps, step_ms),
        kernels,
        _words(heavy, rates),
    )


def ceiling_of(demand: Demand, rates: Rates) -> Ceiling:
    """The largest of what a step asks for."""
    roofline = demand.arithmetic + demand.memory
    ms = max(roofline, demand.launches, demand.loading)
    if ms == demand.loading and demand.loading > roofline:
        return Ceiling(ms, "loading", "the input pipeline: no batch comes sooner")
    if ms == demand.launches and demand.launches > roofline:
        each = rounded(rates.node * MICRO * MICRO, 2)
        return Ceiling(
            ms, "launches", f"{demand.kernels:.0f} kernels in a CUDA graph, {each} µs each"
        )
    if demand.arithmetic >= demand.memory:
        return Ceiling(ms, "arithmetic", demand.words)
    return Ceiling(ms, "memory", f"the least traffic at {rates.bandwidth / _GIGA:.0f} GB/s")


def _apart(works: Sequence[Work]) -> tuple[list[Work], list[Work]]:
    heavy = [work for work in works if work.kind in PRECISE]
    return heavy, [work for work in works if work.kind not in PRECISE]


def _glue(works: Sequence[Work], least: Least) -> float:
    between = [work for work in works if work.kind in {Kind.POINTWISE, Kind.FUSED}]
    updates = [work for work in works if work.kind is Kind.OPTIMIZER]
    names = dict.fromkeys(work.optimizer for work in updates)
    each = ([work for work in updates if work.optimizer == name] for name in names)
    return least.glue(between) + sum(map(least.optimizer, each))


def _kernels_left(heavy: Sequence[Work], rest: Sequence[Work]) -> float:
    """One kernel for each product, and at most one more behind it; one for each optimizer."""
    between = sum(work.kernels for work in rest if work.kind in {Kind.POINTWISE, Kind.FUSED})
    optimizers = sum(work.kind is Kind.OPTIMIZER for work in rest)
    return len(heavy) + min(between, len(heavy) or 1) + min(optimizers, 1)


def _loading(events: Sequence[Event], steps: int, step_ms: float) -> float:
    """Where workers are waited for, no batch comes sooner; else what loading takes the host."""
    ms = waiting_for_data(events, steps)
    workers = any(_WORKERS in str(event["name"]) for event in events)
    if not workers:
        return min(ms, step_ms)
    return step_ms if ms > _WAITS * step_ms else 0.0


def _words(heavy: Sequence[Work], rates: Rates) -> str:
    """Which products have most of the arithmetic, and at what rate."""
    spent: dict[str, float] = {}
    for work in heavy:
        seconds = arithmetic(work.call) / rates.of(work.precision)
        spent[work.precision] = spent.get(work.precision, 0.0) + seconds
    if not spent:
        return ""
    precision = max(spent, key=lambda one: spent[one])
    return f"products in {precision} at {rates.of(precision) / _TERA:.3g} TFLOP/s"
