"""Read graph breaks, recompiles and graphs from Dynamo while a target runs (child process only)."""

from __future__ import annotations

import logging
import os
import re
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch._dynamo.utils as dynamo_utils

from tclint.verify.results import Break, EagerFrame, Frame, Recompile

_FRAME = re.compile(r'^ *File "(.+?)", line (\d+), in (.+)$', re.M)
_PLACE = re.compile(r"Graph break in user code at (.*):(\d+)")
_GB_ID = re.compile(r"/(gb\d+)\.html")
_PREFACES = (
    "Encountered graph break when attempting to",
    "Failed to handle graph break gracefully",
    "Graph Break Reason:",
    "Graph break in user code at",
)
# "User-inserted graph break": inside torch's own files it is meant to be there.
_INSERTED = "GB0025"
_METRICS_KEPT = 100_000

_TORCH = str(Path(torch.__file__).parent)
# Stepping an optimizer that has a scheduler calls a wrapper that Dynamo is told to leave alone.
_OPTIMIZERS = str(Path(_TORCH, "optim"))
_STANDARD = sysconfig.get_paths()["stdlib"]
_OURS = str(Path(__file__).parent)


@dataclass(slots=True)
class Trace:
    """What one watched stretch of running gave; filled when the ``watch`` block ends."""

    breaks: tuple[Break, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    eager_frames: tuple[EagerFrame, ...] = ()
    compiled_frames: int = 0


@dataclass(slots=True)
class CountingBackend:
    """Runs each graph as it is, and remembers how many calls it holds."""

    ops: list[int] = field(default_factory=list)

    def __call__(
        self, graph: torch.fx.GraphModule, example_inputs: list[Any]
    ) -> Callable[..., Any]:
        """Be a ``torch.compile`` backend."""
        self.ops.append(sum(node.op.startswith("call") for node in graph.graph.nodes))
        forward: Callable[..., Any] = graph.forward
        return forward


class _Sink(logging.Handler):
    """Collects the ``dynamo_graph_break_reason`` artifacts of torch's structured log."""

    def __init__(self) -> None:
        super().__init__()
        self.payloads: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        artifact = getattr(record, "metadata", {}).get("artifact", {})
        if artifact.get("name") == "dynamo_graph_break_reason":
            self.payloads.append(getattr(record, "payload", "") or "")


@contextmanager
def watch() -> Iterator[Trace]:
    """Record what Dynamo does while the block runs."""
    dynamo_utils.set_compilation_metrics_limit(_METRICS_KEPT)
    dynamo_utils.clear_compilation_metrics()
    trace, sink = Trace(), _Sink()
    logger = logging.getLogger("torch.__trace")
    logger.addHandler(sink)
    try:
        yield trace
    finally:
        logger.removeHandler(sink)
        metrics = dynamo_utils.get_compilation_metrics()
        trace.breaks = merge_breaks(map(read_break, sink.payloads))
        trace.recompiles = _placed(map(_recompile, filter(_is_recompile, metrics)))
        trace.eager_frames = tuple(map(_eager_frame, filter(_gave_up, metrics)))
        trace.compiled_frames = sum(bool(m.has_guarded_code) for m in metrics)


def gate(call: Callable[[], object]) -> tuple[str, Break | None]:
    """Ask ``error_on_graph_break`` whether ``call`` compiles whole.

    Of all of Dynamo's ways of telling, this one misses nothing; but it stops at the first break.
    """
    strict = getattr(torch._dynamo, "error_on_graph_break", None)
    if strict is None:
        return "unavailable", None
    try:
        with strict(True):
            call()
    except torch._dynamo.exc.Unsupported as error:
        return "breaks", read_break(str(error))
    except Exception:  # noqa: BLE001 - the user's own exception; the comparison reports it
        return "unavailable", None
    return "whole", None


def read_break(payload: str) -> Break:
    """Read one graph break from Dynamo's text about it."""
    head = payload.split("\nTraceback (most recent call last)", maxsplit=1)[0]
    message, _, user = head.partition("User code traceback:")
    if not user:
        message, _, user = head.partition("from user code:")
    stack = _stack(user or message)
    place = _PLACE.search(message)
    if not stack and place:
        stack = (Frame(place[1], int(place[2]), "?"),)
    gb_ids = tuple(dict.fromkeys(found.upper() for found in _GB_ID.findall(message)))
    at = user_frame(stack)
    reason, explanation = _reason(message)
    in_torch = bool(stack) and stack[-1].filename.startswith(_TORCH)
    inserted = in_torch and gb_ids[:1] == (_INSERTED,)
    return Break(
        gb_id=gb_ids[0] if gb_ids else None,
        gb_ids=gb_ids,
        reason=reason,
        explanation=explanation,
        filename=at.filename,
        row=at.row,
        stack=stack,
        drops_frame="falling back to eager" in message,
        by_torch=inserted or f"`{_OPTIMIZERS}" in explanation,
    )


def merge_breaks(found: Iterator[Break]) -> tuple[Break, ...]:
    """Drop repetitions: Dynamo meets a break once per frame that it tries to compile around it."""
    unique: dict[tuple[str | None, str, int], Break] = {}
    for one in found:
        inner = one.stack[-1] if one.stack else Frame(one.filename, one.row, "?")
        unique.setdefault((one.gb_id, inner.filename, inner.row), one)
    return tuple(unique.values())


def user_frame(stack: tuple[Frame, ...]) -> Frame:
    """The last frame of the user's code; of a library's, where the user has none."""
    own = [frame for frame in stack if not _is_library(frame.filename)]
    outside_torch = [frame for frame in stack if not frame.filename.startswith(_TORCH)]
    for frames in (own, outside_torch, stack):
        if frames:
            return frames[-1]
    return Frame("?", 0, "?")


def _is_library(filename: str) -> bool:
    generated = os.environ.get("TORCHINDUCTOR_CACHE_DIR", _OURS)
    return (
        filename.startswith((_TORCH, _STANDARD, _OURS, generated, "<"))
        or "site-packages" in filename
        or "dist-packages" in filename
    )


def _stack(text: str) -> tuple[Frame, ...]:
    frames = [Frame(file, int(row), name) for file, row, name in _FRAME.findall(text)]
    ours = [i for i, frame in enumerate(frames) if frame.filename.startswith(_OURS)]
    return tuple(frames[ours[-1] + 1 :] if ours else frames)


def _reason(message: str) -> tuple[str, str]:
    lines = [line.strip() for line in message.splitlines()]
    explanation = next((s[13:] for s in lines if s.startswith("Explanation: ")), "")
    bare = [line.removeprefix("Graph Break Reason: ") for line in lines]
    for line in bare:
        if line and not line.startswith(_PREFACES):
            return line, explanation
    return "unknown reason", explanation


def _is_recompile(metric: Any) -> bool:
    return bool(metric.recompile_reason)


def _recompile(metric: Any) -> Recompile:
    reason = metric.recompile_reason.split("\n")[0].split(": ", 1)[-1]
    guard, _, where = reason.partition("  # ")
    place = re.search(r"(\S+\.py):(\d+) in ", where)
    failed = metric.fail_reason or ""
    file, row = metric.co_filename or "?", metric.co_firstlineno or 0
    if stack := _stack(metric.recompile_reason):
        at = user_frame(stack)
        file, row = at.filename, at.row
    elif place:
        file, row = metric.co_filename or place[1], int(place[2])
    return Recompile(
        compile_id=str(metric.compile_id),
        reason=guard.strip(),
        filename=file,
        row=row,
        limit_reached="limit" in failed.split("\n")[0],
    )


def _placed(recompiles: Iterator[Recompile]) -> tuple[Recompile, ...]:
    """Older torch does not say where the limit was reached: where the frame was last compiled."""
    known: dict[str, Recompile] = {}
    placed = []
    for again in recompiles:
        frame = again.compile_id.split("/", maxsplit=1)[0]
        last = known.get(frame)
        if again.row == 0 and last is not None:
            again = replace(again, filename=last.filename, row=last.row)  # noqa: PLW2901
        known[frame] = again
        placed.append(again)
    return tuple(placed)


def _gave_up(metric: Any) -> bool:
    # A frame at its recompile limit is reported as a recompile.
    failed = metric.has_guarded_code is False or bool(metric.fail_type)
    return failed and not metric.recompile_reason


def _eager_frame(metric: Any) -> EagerFrame:
    return EagerFrame(
        function=metric.co_name or "?",
        filename=metric.co_filename or "?",
        row=metric.co_firstlineno or 0,
        reason=(metric.fail_reason or "no tensor operation").split("\n")[0],
    )
