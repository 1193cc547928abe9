"""What bounds a step on a GPU: its kernels by class, and what a remedy can bring of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tclint.records import record
from tclint.run.device_work import ON_GPU, Kind, Work, gpu_work, share_in_graphs
from tclint.run.gpu import activity
from tclint.run.least import BF16, Least
from tclint.run.outlook import KernelClass, KernelClasses
from tclint.run.rates import Rates
from tclint.run.scale import PRECISION, ROUNDING
from tclint.run.spans import MICRO, Event, end_of, start_of, steps_in

_LOADER = "enumerate(DataLoader)"
_WITH_FUSED = frozenset({"Adam", "AdamW", "SGD"})
"""Optimizers with ``fused=True`` on a GPU."""
_MANY_IDLE = 0.1
"""The share of a step from which on its idle time is worth a remedy."""


@record(frozen=True)
class Remedy:
    """What can be done about a class: the words, what it may alter, and the least that is left.

    With ``fewer`` kernels the host is faster, too.
    """

    words: str
    change: str
    left: Callable[[Sequence[Work], Least], float]
    fewer: bool = False


_REMEDIES: Mapping[str, Remedy] = {
    "matmul float32 (no TF32)": Remedy(
        "`torch.set_float32_matmul_precision('high')` (TF32)",
        PRECISION,
        lambda works, least: least.products(works, "TF32"),
    ),
    "matmul TF32": Remedy(
        "bf16 by `torch.autocast`",
        PRECISION,
        lambda works, least: least.products(works, BF16),
    ),
    "convolution channels-first": Remedy(
        "`channels_last` for the model and its images",
        ROUNDING,
        lambda works, least: least.products(works),
    ),
    "convolution channels-last, float32": Remedy(
        "bf16 by `torch.autocast`",
        PRECISION,
        lambda works, least: least.products(works, BF16),
    ),
    Kind.BY_HAND.value: Remedy(
        "`scaled_dot_product_attention`",
        ROUNDING,
        lambda works, least: least.attention(works),
    ),
    Kind.POINTWISE.value: Remedy(
        "fusing them by `torch.compile`", ROUNDING, lambda works, least: least.glue(works), True
    ),
    Kind.OPTIMIZER.value: Remedy(
        "`fused=True`", ROUNDING, lambda works, least: least.optimizer(works), True
    ),
}
"""By the start of a class's name."""


def kernel_classes(
    events: Sequence[Event], steps: int, step_ms: float, rates: Rates | None = None
) -> KernelClasses | None:
    """The kernels of a step by class; None where the spans of a trace say nothing of a GPU.

    ``steps`` is how many there are, unless the optimizer's own marks tell. Without ``rates``
    nothing is said of what a remedy brings.
    """
    seen = activity(events, steps)
    if seen is None:
        return None
    steps, works = steps_in(events, steps), gpu_work(events)
    # Where kernels run side by side, each has its share of the time in which any of them ran.
    whole = sum(work.ms for work in works)
    share = seen.busy / whole / steps if whole else 0.0
    idle = seen.idle(step_ms)
    busy = 1.0 - idle / step_ms if step_ms else 1.0
    found = [
        _class(name, here, share, steps, Least(works, rates) if rates else None, busy)
        for name, here in _by_class(works).items()
    ]
    ordered = tuple(sorted(found, key=lambda one: -one.ms))
    launches = seen.launches / seen.steps
    return KernelClasses(ordered, idle, launches, *_idle(events, steps, idle, step_ms, rates))


def _by_class(works: Sequence[Work]) -> dict[str, list[Work]]:
    found: dict[str, list[Work]] = {}
    for work in works:
        found.setdefault(work.name, []).append(work)
    return found


def _class(
    name: str, works: Sequence[Work], share: float, steps: int, least: Least | None, busy: float
) -> KernelClass:
    ms = sum(work.ms for work in works) * share
    launches = sum(work.kernels for work in works) / steps
    remedy = next((one for start, one in _REMEDIES.items() if name.startswith(start)), None)
    if remedy is None or least is None or not _may_fuse(works):
        return KernelClass(name, ms, launches)
    # Where the GPU waits for the host, a kernel that is faster only lets it wait longer.
    saves = max(0.0, ms - remedy.left(works, least) / steps) * busy
    held = 0.0 if remedy.fewer else saves
    return KernelClass(name, ms, launches, saves, remedy.words, remedy.change, held)


def _may_fuse(works: Sequence[Work]) -> bool:
    """Whether a step is no optimizer's, or could be fused and is not."""
    names = {work.optimizer for work in works if work.kind is Kind.OPTIMIZER}
    fused = any(work.call.name.startswith("aten::_fused_") for work in works)
    return not fused and names <= _WITH_FUSED


def _idle(
    events: Sequence[Event], steps: int, idle: float, step_ms: float, rates: Rates | None
) -> tuple[float, str]:
    """The most that fewer launches bring of the idle time, and how to have fewer."""
    kernels = sum(event.get("cat") in ON_GPU for event in events) / steps
    floor = kernels * rates.node * MICRO if rates is not None else 0.0
    left = max(0.0, idle - waiting_for_data(events, steps) - floor)
    saves = left * (1.0 - share_in_graphs(events))
    if not step_ms or saves < _MANY_IDLE * step_ms:
        return 0.0, ""
    return saves, "`torch.compile(..., mode='reduce-overhead')` (fusion and CUDA graphs)"


def without_loading(found: KernelClasses | None, loading: float) -> KernelClasses | None:
    """The same, where so many milliseconds of the idle time are a wait for data.

    The profiler slows the host: in the steps that it sees, a loader's workers may keep up.
    """
    if found is None:
        return None
    saves = min(found.idle_saves, max(0.0, found.idle - loading))
    return replace(found, idle_saves=saves, idle_remedy=found.idle_remedy if saves else "")


def within_waits(found: KernelClasses | None, waiting: float | None) -> KernelClasses | None:
    """The same, where the host waits for the GPU so many milliseconds of a step.

    Faster kernels bring no more: then the GPU waits for the host. None: it is not known.
    """
    if found is None or waiting is None:
        return found
    held = (
        replace(one, saves=min(one.saves, waiting)) if one.on_gpu else one for one in found.classes
    )
    return replace(found, classes=tuple(held))


def waiting_for_data(events: Sequence[Event], steps: int) -> float:
    """Milliseconds of a step in which the host waits for a loader, or loads itself."""
    waits = (event for event in events if str(event["name"]).startswith(_LOADER))
    return sum(end_of(event) - start_of(event) for event in waits) / MICRO / steps
