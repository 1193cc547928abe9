"""The spans of a profiler's trace, in Chrome's format."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Event = Mapping[str, Any]
"""A span of a trace, as JSON has it: times in microseconds."""
REGION = "Torch-Compiled Region"
GRADIENT = "autograd::engine::evaluate_function"
MICRO = 1e3
"""Microseconds of a millisecond."""
_NOTED = "user_annotation"
_STEPPED = "Optimizer.step#"


def read_spans(file: Path) -> list[Event]:
    """The spans of a trace, plain or packed.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such trace.
    """
    text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    data = json.loads(text)
    found = data.get("traceEvents") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise ValueError("not a trace of the profiler")
    return [event for event in found if _is_span(event)]


def steps_in(events: Sequence[Event], steps: int) -> int:
    """How many steps the optimizer's own marks tell of, or else what is given."""
    return max(Counter(str(mark["name"]) for mark in _marks(events)).values(), default=steps)


def ends_of_steps(events: Sequence[Event]) -> list[float]:
    """When steps of optimizers ended, in order."""
    return sorted(map(end_of, _marks(events)))


def frame_of(region: Event) -> str:
    """The number of the frame that a compiled region is of."""
    return str(region["name"]).rpartition(" ")[2].partition("/")[0]


def start_of(event: Event) -> float:
    """When a span begins."""
    return float(event["ts"])


def end_of(event: Event) -> float:
    """When a span ends."""
    return float(event["ts"]) + float(event["dur"])


def holds(one: Event, other: Event) -> bool:
    """True where a span of a thread lies in another one of it."""
    same = one.get("tid") == other.get("tid")
    return same and start_of(one) <= start_of(other) and end_of(other) <= end_of(one)


def _marks(events: Sequence[Event]) -> list[Event]:
    noted = (event for event in events if event.get("cat") == _NOTED)
    return [event for event in noted if str(event["name"]).startswith(_STEPPED)]


def _is_span(event: Any) -> bool:
    return (
        isinstance(event, dict)
        and event.get("ph") == "X"
        and all(isinstance(event.get(key), int | float) for key in ("ts", "dur"))
        and "name" in event
    )
