"""The spans of a profiler's trace, in Chrome's format."""

from __future__ import annotations

import gzip
import io
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tclint.files import TooLargeError, read_bytes
from tclint.json_text import parse_json

Event = Mapping[str, Any]
"""A span of a trace, as JSON has it: times in microseconds."""
REGION = "Torch-Compiled Region"
GRADIENT = "autograd::engine::evaluate_function"
LARGEST = 1 << 31
"""Bytes of a trace, unpacked."""
MICRO = 1e3
"""Microseconds of a millisecond."""
_NOTED = "user_annotation"
_STEPPED = "Optimizer.step#"


def read_spans(folder: Path, name: str) -> list[Event]:
    """The spans of a trace in a recording's folder, plain or packed.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no such trace.
    """
    if Path(name).name != name:
        raise ValueError(f"{name!r} is no file of the recording")
    text = read_bytes(folder / name, LARGEST)
    data = parse_json(_unpacked(text) if name.endswith(".gz") else text)
    found = data.get("traceEvents") if isinstance(data, dict) else None
    if not isinstance(found, list):
        raise ValueError("not a trace of the profiler")
    return [event for event in found if _is_span(event)]


def _unpacked(packed: bytes) -> bytes:
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(packed)) as stream:
            text = stream.read(LARGEST + 1)
    except (EOFError, zlib.error) as error:
        raise ValueError(f"it cannot be unpacked: {error}") from error
    if len(text) > LARGEST:
        raise TooLargeError(f"it is over the limit of {LARGEST >> 20:,} MB")
    return text


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
        and isinstance(event.get("name"), str)
        and isinstance(event.get("cat", ""), str)
        and isinstance(event.get("tid", ""), int | str)
        and _is_about(event.get("args", {}))
    )


def _is_about(arguments: Any) -> bool:
    numbers = ("Sequence number", "correlation")
    return isinstance(arguments, dict) and all(
        isinstance(arguments.get(name, 0), int) for name in numbers
    )
