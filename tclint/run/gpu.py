"""What the GPU did in the steps that the profiler watched, read from its trace."""

from __future__ import annotations

import gzip
import json
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tclint.records import record

_ON_GPU = frozenset({"kernel", "gpu_memcpy", "gpu_memset"})
_RUNTIME = frozenset({"cuda_runtime", "cuda_driver"})
_WAITS = ("cudaStreamSynchronize", "cudaDeviceSynchronize", "cudaEventSynchronize", "cudaMemcpy")
_ASYNC = "Async"
_LAUNCHES = ("cudaLaunchKernel", "cuLaunchKernel", "cudaGraphLaunch")
_REGION = "Torch-Compiled Region"
_MICRO = 1e3


@record(frozen=True)
class Wait:
    """A call that waited for the GPU: the milliseconds that it took, and those the GPU idled on."""

    waited: float
    idle_after: float


@record(frozen=True)
class Activity:
    """What happened in ``steps`` steps; times in milliseconds, of all of these steps together.

    ``waits`` are in the order in which they happened. ``regions`` counts the calls of compiled
    code.
    """

    steps: int
    wall: float
    busy: float
    launches: int
    regions: int
    waits: tuple[Wait, ...]

    @property
    def idle(self) -> float:
        """The milliseconds of a step in which the GPU did nothing."""
        return max(0.0, self.wall - self.busy) / self.steps

    @property
    def idle_share(self) -> float:
        """The share of the time in which the GPU did nothing."""
        return max(0.0, 1 - self.busy / self.wall) if self.wall else 0.0


def read_trace(file: Path, steps: int) -> Activity | None:
    """A trace in Chrome's format, plain or packed; None where it says nothing of a GPU.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such trace.
    """
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    data = json.loads(text)
    found = data.get("traceEvents") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise ValueError("no trace of the profiler's")
    return activity([event for event in found if _is_span(event)], max(1, steps))


def activity(events: Sequence[Mapping[str, Any]], steps: int) -> Activity | None:
    """What the spans of a trace come to."""
    gpu = _merged((_start(e), _end(e)) for e in events if e.get("cat") in _ON_GPU)
    if not gpu:
        return None
    host = [e for e in events if e.get("cat") in _RUNTIME]
    start = min([gpu[0][0], *map(_start, host)])
    end = max([gpu[-1][1], *map(_end, host)])
    waits = sorted((e for e in host if _waits(str(e["name"]))), key=_start)
    return Activity(
        steps,
        (end - start) / _MICRO,
        sum(b - a for a, b in gpu) / _MICRO,
        sum(str(e["name"]).startswith(_LAUNCHES) for e in host),
        sum(str(e["name"]).startswith(_REGION) for e in events),
        tuple(
            Wait((_end(e) - _start(e)) / _MICRO, _idle_after(_end(e), gpu) / _MICRO) for e in waits
        ),
    )


def _is_span(event: Any) -> bool:
    return (
        isinstance(event, dict)
        and event.get("ph") == "X"
        and all(isinstance(event.get(key), int | float) for key in ("ts", "dur"))
        and "name" in event
    )


def _start(event: Mapping[str, Any]) -> float:
    return float(event["ts"])


def _end(event: Mapping[str, Any]) -> float:
    return float(event["ts"]) + float(event["dur"])


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
