"""What Dynamo says of itself: graph breaks, compilations, CUDA graphs left out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import time_ns
from typing import Any

from .lines import Lines

_SKIPPING = "skipping cudagraphs due to "
_SKIP_LOGS = tuple(
    f"torch._inductor.cudagraph_utils.__{artifact}" for artifact in ("cudagraphs", "perf_hints")
)
_METRICS = {"compilation_metrics": False, "bwd_compilation_metrics": True}
_CACHE = "fx_graph_cache_"


def listen(lines: Lines, hear: Any) -> Callable[[], None]:
    """Hear torch's structured log, and what it says of CUDA graphs; gives what ends it.

    What is replaced is the loggers' methods: neither the program's handlers nor its levels,
    ``logging.disable`` or another configuration decide what is heard, and none of them changes.
    """
    trace = logging.getLogger("torch.__trace")
    said, wanted = _Said(lines), _Wanted()
    # In front: torch's own handler takes itself away when called, and the next one is missed.
    trace.handlers.insert(0, wanted)
    undo = [
        lambda: trace.removeHandler(wanted),
        _overhear(trace, "debug", hear("structured log", said.traced)),
    ]
    for name in _SKIP_LOGS:
        logger = logging.getLogger(name)
        undo.append(_overhear(logger, "warning", hear("CUDA graphs", said.warned)))

    def stop() -> None:
        for one in undo:
            one()

    return stop


def _overhear(logger: logging.Logger, method: str, hear: Any) -> Callable[[], None]:
    before = vars(logger).get(method)
    log = getattr(logger, method)

    def overheard(*args: Any, **kwargs: Any) -> None:
        hear(args, kwargs)
        kwargs["stacklevel"] = kwargs.get("stacklevel", 1) + 1
        log(*args, **kwargs)

    setattr(logger, method, overheard)

    def put_back() -> None:
        if before is None:
            delattr(logger, method)
        else:
            setattr(logger, method, before)

    return put_back


class _Wanted(logging.Handler):
    """Does nothing: torch makes the records of its structured log where there is a handler."""

    def handle(self, record: logging.LogRecord) -> bool:
        return False


class _Said:
    """Turns what is heard into lines."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._caches: dict[str, str] = {}
        self._functions: dict[str, tuple[str, str, int]] = {}

    def traced(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """One record of the structured log."""
        extra = kwargs.get("extra") or {}
        metadata = extra.get("metadata") or {}
        for name, backward in _METRICS.items():
            if name in metadata:
                self._compiled(metadata[name], backward=backward)
        name = (metadata.get("artifact") or {}).get("name", "")
        if name == "dynamo_graph_break_reason":
            self._lines.write(
                "break",
                at=time_ns(),
                compile_id=_compile_id(metadata),
                text=str(extra.get("payload") or ""),
            )
        elif name.startswith(_CACHE):
            state = name.removeprefix(_CACHE)
            known = self._caches.get(_compile_id(metadata))
            # Of several graphs of one compilation, the one that was not found tells the most.
            self._caches[_compile_id(metadata)] = "miss" if "miss" in {state, known} else state

    def warned(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """One warning about CUDA graphs."""
        text = str(args[0]) % args[1:] if args[1:] else str(args[0])
        if text.startswith(_SKIPPING):
            self._lines.write("cudagraph-skip", at=time_ns(), reason=text.removeprefix(_SKIPPING))

    def _compiled(self, metric: dict[str, Any], *, backward: bool) -> None:
        compile_id = str(metric.get("compile_id") or "?")
        if metric.get("co_name"):
            self._functions[compile_id] = (
                str(metric["co_name"]),
                str(metric.get("co_filename") or "?"),
                int(metric.get("co_firstlineno") or 0),
            )
        function, filename, row = self._functions.get(compile_id, ("?", "?", 0))
        self._lines.write(
            "compiled",
            at=time_ns(),
            compile_id=compile_id,
            function=function,
            filename=filename,
            row=row,
            seconds=_seconds(metric, backward=backward),
            backward=backward,
            dynamo_seconds=_micros(metric, "dynamo_cumulative_compile_time_us"),
            aot_seconds=_micros(metric, "aot_autograd_cumulative_compile_time_us"),
            inductor_seconds=_micros(metric, "inductor_cumulative_compile_time_us"),
            code_seconds=_micros(metric, "inductor_code_gen_cumulative_compile_time_us"),
            graph_ops=int(metric.get("graph_op_count") or 0),
            guards=int(metric.get("guard_count") or 0),
            recompile_reason=str(metric.get("recompile_reason") or ""),
            fail_type=str(metric.get("fail_type") or ""),
            fail_reason=str(metric.get("fail_reason") or ""),
            cache=self._caches.pop(compile_id, ""),
            has_code=metric.get("has_guarded_code") is not False and not metric.get("fail_type"),
        )


def _compile_id(metadata: dict[str, Any]) -> str:
    autograd = metadata.get("compiled_autograd_id")
    frame = metadata.get("frame_id")
    version = metadata.get("frame_compile_id")
    if frame is None:
        return "?" if autograd is None else f"!{autograd}"
    return f"{frame}/{version}" if autograd is None else f"!{autograd}/{frame}/{version}"


def _micros(metric: dict[str, Any], field: str) -> float:
    return float(metric.get(field) or 0) / 1e6


def _seconds(metric: dict[str, Any], *, backward: bool) -> float:
    """How long it took, less what it took to say so."""
    whole = metric.get("duration_us")
    seconds = (
        float(whole) / 1e6
        if whole is not None
        else _micros(metric, "backward_cumulative_compile_time_us")
        if backward
        else float(metric.get("entire_frame_compile_time_s") or 0)
    )
    return max(0.0, seconds - float(metric.get("structured_logging_overhead_s") or 0))
