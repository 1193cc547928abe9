"""What the GPU did in the steps that the profiler watched, read from its trace."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tclint.records import record
from tclint.run.spans import (
    GRADIENT,
    MICRO,
    REGION,
    Event,
    end_of,
    ends_of_steps,
    frame_of,
    holds,
    read_spans,
    start_of,
    steps_in,
)

_ON_GPU = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_RUNTIME = frozenset({"cuda_runtime", "cuda_driver"})
_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")
_ASYNC = "Async"
_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch")
_COLLECTIVES = ("ncclDevKernel", "ncclKernel")
_GRAPHS = ("CompiledFunction", "## Call CompiledFxGraph")
_QUEUE = 512
"""A stream holds up to 1,024 launches that the GPU has not begun, less what else waits in it."""
_UNSEEN = 1e-3
"""The share of a step that is too little to be drawn."""


@record(frozen=True)
class Wait:
    """A call that waited for the GPU: the milliseconds that it took, and those the GPU idled on."""

    waited: float
    idle_after: float

    @property
    def cost(self) -> float:
        """What the wait costs at most.

        Without it the host goes on as much earlier as it waited, and the next kernel starts as much
        earlier: what the GPU idles on longer than that is the host's own work.
        """
        return min(self.waited, self.idle_after)


@record(frozen=True)
class Outside:
    """What one compiled frame runs outside of its graphs, because it breaks: the eager code.

    ``frame`` is the frame's number, ``gpu`` the milliseconds of a step for the kernels of that
    code, those of its gradients too; ``times`` is how often the frame is called in a step.
    """

    frame: str
    times: float
    gpu: float


@record(frozen=True)
class Activity:
    """What happened in ``steps`` steps; ``busy`` are milliseconds, of all of these together.

    ``waits`` are in the order in which they happened. ``one_step`` is when kernels ran in the last
    whole step, each from 0 to 1. ``collective`` are those of the milliseconds in which nothing but
    collectives ran, which also wait for the other ranks. ``ahead`` are the most launches between
    two waits.
    """

    steps: int
    busy: float
    launches: int
    waits: tuple[Wait, ...]
    outside: tuple[Outside, ...] = ()
    one_step: tuple[tuple[float, float], ...] = ()
    collective: float = 0.0
    ahead: int = 0

    @property
    def may_fill_queue(self) -> bool:
        """Whether the host may be so far ahead that a launch waits until the GPU is done with one.

        The profiler slows the host: its trace does not show how long that takes.
        """
        return self.ahead > _QUEUE

    def idle(self, step: float) -> float:
        """The milliseconds of a step in which the GPU does nothing.

        The profiler slows the host: how long a ``step`` takes is known from others.
        """
        return max(0.0, step - self.busy / self.steps)


def backward_waits(folder: Path, name: str) -> tuple[int, ...]:
    """The numbers that autograd gave to what waited for the GPU in a backward, in order.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such trace.
    """
    return numbered_waits(read_spans(folder, name))


def numbered_waits(events: Sequence[Event]) -> tuple[int, ...]:
    """The same, of the spans of a trace."""
    parts: dict[object, list[Event]] = {}
    for event in events:
        if str(event["name"]).startswith(GRADIENT):
            parts.setdefault(event.get("tid"), []).append(event)
    waits = sorted(
        (e for e in events if e.get("cat") in _RUNTIME and _waits(e["name"])), key=start_of
    )
    found = []
    for wait in waits:
        around = [part for part in parts.get(wait.get("tid"), ()) if holds(part, wait)]
        inner = max(around, key=start_of, default=None)
        if inner is not None:
            found.append(int(inner.get("args", {}).get("Sequence number", -1)))
    return tuple(found)


def activity(events: Sequence[Event], steps: int) -> Activity | None:
    """What the spans of a trace come to; None where they say nothing of a GPU.

    ``steps`` is how many there are, unless the optimizer's own marks tell.
    """
    on_gpu = [e for e in events if e.get("cat") in _ON_GPU]
    gpu = _merged((start_of(e), end_of(e)) for e in on_gpu)
    if not gpu:
        return None
    own = _merged(
        (start_of(e), end_of(e)) for e in on_gpu if not str(e["name"]).startswith(_COLLECTIVES)
    )
    host = [e for e in events if e.get("cat") in _RUNTIME]
    waits = sorted((e for e in host if _waits(str(e["name"]))), key=start_of)
    steps = steps_in(events, steps)
    return Activity(
        steps,
        sum(b - a for a, b in gpu) / MICRO,
        sum(str(e["name"]).startswith(_LAUNCHES) for e in host),
        tuple(
            Wait((end_of(e) - start_of(e)) / MICRO, _idle_after(end_of(e), gpu) / MICRO)
            for e in waits
        ),
        _outside(events, steps),
        _one_step(events, gpu),
        (sum(b - a for a, b in gpu) - sum(b - a for a, b in own)) / MICRO,
        _ahead(host, waits),
    )


def _ahead(host: Iterable[Event], waits: Sequence[Event]) -> int:
    """The most launches between two waits, or an end of the trace."""
    begun = [start_of(wait) for wait in waits]
    launched = (e for e in host if str(e["name"]).startswith(_LAUNCHES))
    between = Counter(bisect_right(begun, start_of(e)) for e in launched)
    return max(between.values(), default=0)


def _one_step(
    events: Sequence[Event], gpu: Sequence[tuple[float, float]]
) -> tuple[tuple[float, float], ...]:
    """When the GPU was busy between the ends of the last two steps of an optimizer."""
    ends = ends_of_steps(events)
    if len(ends) < 2:
        return ()
    start, end = ends[-2:]
    inside = [(max(a, start), min(b, end)) for a, b in gpu if b > start and a < end]
    # Kernels with nothing between them that could be seen are one.
    near = _merged((a, b + (end - start) * _UNSEEN) for a, b in inside)
    return tuple(((a - start) / (end - start), (b - start) / (end - start)) for a, b in near)


def _outside(events: Sequence[Event], steps: int) -> tuple[Outside, ...]:
    """What the calls of each frame launched outside of compiled graphs, and of other frames."""
    regions = [e for e in events if str(e["name"]).startswith(REGION)]
    inside = [*regions, *(e for e in events if str(e["name"]).startswith(_GRAPHS))]
    work = _Work(events)
    found: dict[str, list[float]] = {}
    for region in regions:
        frame = frame_of(region)
        within = [e for e in inside if e is not region and holds(region, e)]
        found.setdefault(frame, []).append(work.of(region, within))
    return tuple(
        Outside(frame, len(spent) / steps, sum(spent) / MICRO / steps)
        for frame, spent in found.items()
    )


@record(frozen=True)
class _Launch:
    """A kernel's launch: when, on which thread, and the microseconds that it ran."""

    at: float
    thread: object
    spent: float


class _Work:
    """Which kernels a stretch of a thread's time launched, and those of their gradients."""

    def __init__(self, events: Sequence[Event]) -> None:
        """Sort the spans of a trace by what they are."""
        told = [(e, e["args"]) for e in events if isinstance(e.get("args"), dict)]
        kernels: Counter[object] = Counter()
        for event, about in told:
            if event.get("cat") in _ON_GPU:
                kernels[about.get("correlation")] += event["dur"]
        launches = (
            _Launch(start_of(e), e.get("tid"), float(kernels[about.get("correlation")]))
            for e, about in told
            if e.get("cat") in _RUNTIME
        )
        self._launches = sorted(launches, key=lambda one: one.at)
        self._times = [one.at for one in self._launches]
        # What records no gradient has the number of the next one that does: the last one has it.
        self._forward: dict[object, Event] = {}
        self._backward: dict[object, Event] = {}
        numbered = [(e, a["Sequence number"]) for e, a in told if "Sequence number" in a]
        for event, number in sorted(numbered, key=lambda one: start_of(one[0])):
            gradient = str(event["name"]).startswith(GRADIENT)
            if gradient:
                self._backward.setdefault(number, event)
            elif number not in self._backward:
                self._forward[number] = event

    def of(self, span: Event, without: Sequence[Event]) -> float:
        """Microseconds of the GPU for what a span launched, but for some spans in it."""
        spent = self._launched(span, without)
        for number, event in self._forward.items():
            mine = holds(span, event) and not any(holds(one, event) for one in without)
            if mine and number in self._backward:
                spent += self._launched(self._backward[number], ())
        return spent

    def _launched(self, span: Event, without: Sequence[Event]) -> float:
        start, end = start_of(span), end_of(span)
        first, last = bisect_left(self._times, start), bisect_left(self._times, end)
        left_out = [(start_of(one), end_of(one)) for one in without]
        return sum(
            one.spent
            for one in self._launches[first:last]
            if one.thread == span.get("tid") and not any(a <= one.at < b for a, b in left_out)
        )


def _waits(name: str) -> bool:
    return name.startswith(_WAITS) and _ASYNC not in name


def _merged(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    merged: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def _idle_after(moment: float, gpu: Sequence[tuple[float, float]]) -> float:
    """How long the GPU does nothing from a moment on; not at all where it is at work."""
    at = bisect_right([end for _, end in gpu], moment)
    return max(0.0, gpu[at][0] - moment) if at < len(gpu) else 0.0
