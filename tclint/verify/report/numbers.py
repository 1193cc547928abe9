"""How figures of a verification are written, in all formats for people."""

from __future__ import annotations

from pathlib import Path

from tclint.verify.events import Equality, Sync
from tclint.verify.results import Arm, Scaling
from tclint.verify.speed import Kernels, Memory, Speedup, Timing

UNKNOWN = "-"
_KIB = 1024
_MIB = 1024**2
_GIB = 1024**3


def sync_count(syncs: tuple[Sync, ...] | None) -> str:
    """Host syncs of one call; unknown without a GPU."""
    return UNKNOWN if syncs is None else str(sum(sync.count for sync in syncs))


def milliseconds(timing: Timing | None) -> str:
    """Median and half the spread."""
    if timing is None:
        return UNKNOWN
    places = 3 if timing.median < 100 else 1 if timing.median < 1000 else 0
    return f"{timing.median:.{places}f} ±{timing.spread / 2:.{places}f}"


def memory(found: Memory | None) -> str:
    """What one call needed at most."""
    if found is None:
        return UNKNOWN
    if found.allocated is not None:
        reserved = f" ({size(found.reserved)} reserved)" if found.reserved is not None else ""
        return size(found.allocated) + reserved
    return UNKNOWN if found.resident is None else size(found.resident)


def kernels(found: Kernels) -> str:
    """What a call runs on the GPU; launches only where CUDA graphs make them fewer."""
    launched = (
        "" if found.launches >= found.run else f" by {plural(found.launches, 'launch', 'es')}"
    )
    return plural(found.run, "kernel") + launched


def plural(count: int, name: str, ending: str = "s") -> str:
    """A count of something."""
    return f"{count} {name}" + ("" if count == 1 else ending)


def scaling(found: Scaling) -> str:
    """How one form of a target scales."""
    return (
        f"{found.form}: {found.efficiency:.0%} scaling efficiency "
        f"(alone {found.alone:.3f} ms, slowest rank {found.slowest:.3f} ms)"
    )


def size(count: int) -> str:
    """Bytes in the unit that reads best."""
    if count >= _GIB:
        return f"{count / _GIB:.2f} GiB"
    return f"{count / _MIB:.0f} MiB" if count >= 10 * _MIB else f"{count / _KIB:.0f} KiB"


def ratio(found: Speedup) -> str:
    """A speedup with its confidence interval, or why there is none."""
    if found.ratio is None:
        return found.note
    bounds = f", 95%: {found.low:.2f} to {found.high:.2f}" if found.low and found.high else ""
    return f"{found.ratio:.2f}x ({found.note}{bounds})"


def closeness(equality: Equality) -> str:
    """A verdict with the size of the errors behind it."""
    if equality.verdict != "close":
        return equality.verdict + (f" ({equality.detail})" if equality.detail else "")
    if equality.basis == "float64":
        judged = f"against float64 no more than {equality.tolerance:g} times eager's own error"
    else:
        judged = f"tolerance {equality.tolerance:g}"
    return (
        f"close, at most {equality.max_abs:.2g} off "
        f"({equality.max_rel:.2g} of the largest value; {judged})"
        f"{f'; {equality.detail}' if equality.detail else ''}"
    )


def place(filename: str, row: int, base: Path) -> str:
    """A line, relative to ``base`` where possible."""
    path = Path(filename)
    return f"{path.relative_to(base) if path.is_relative_to(base) else path}:{row}"


def graph_sizes(arm: Arm) -> str:
    """Graphs of the first call with the number of operations in each."""
    if arm.probe is None:
        return UNKNOWN
    if not arm.probe.ops:
        return "none"
    return f"{arm.probe.graphs} ({' + '.join(map(str, arm.probe.ops))} operations)"
