"""Watch what Dynamo does while a target runs: breaks, recompiles, graphs (child process only)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from typing import Any

import torch
import torch._dynamo
import torch._dynamo.utils as dynamo_utils

from tclint.records import record
from tclint.verify.break_text import merge_breaks, placed
from tclint.verify.breaks import read_break, read_recompile
from tclint.verify.compile_time import compile_phases
from tclint.verify.events import Break, EagerFrame, Frame, Recompile
from tclint.verify.speed import CompilePhase

_METRICS_KEPT = 100_000
_SKIPPING = "skipping cudagraphs due to "
_SKIP_LOGS = tuple(
    f"torch._inductor.cudagraph_utils.__{artifact}" for artifact in ("cudagraphs", "perf_hints")
)


@record()
class Trace:
    """What one watched stretch of running gave; filled when the ``watch`` block ends."""

    breaks: tuple[Break, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    eager_frames: tuple[EagerFrame, ...] = ()
    compiled_frames: int = 0
    phases: tuple[CompilePhase, ...] = ()
    cudagraph_skips: tuple[str, ...] = ()
    refresh: Callable[[], None] = lambda: None
    """Brings all this up to date while the block still runs."""


@record()
class CountingBackend:
    """Runs each graph as it is, and remembers how many calls it holds; ``tell`` hears of each."""

    ops: list[int] = field(default_factory=list)
    tell: Callable[[], None] = lambda: None

    def __call__(
        self, graph: torch.fx.GraphModule, example_inputs: list[Any]
    ) -> Callable[..., Any]:
        """Be a ``torch.compile`` backend."""
        self.ops.append(sum(node.op.startswith("call") for node in graph.graph.nodes))
        self.tell()
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


class _Skips(logging.Handler):
    """Collects why Inductor leaves CUDA graphs out."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.reasons: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if text.startswith(_SKIPPING):
            # The stack that follows is told apart from the reason by a period.
            self.reasons.append(text.split("\n")[0].removeprefix(_SKIPPING).split(". Found")[0])


@contextmanager
def watch() -> Iterator[Trace]:
    """Record what Dynamo does while the block runs."""
    dynamo_utils.set_compilation_metrics_limit(_METRICS_KEPT)
    dynamo_utils.clear_compilation_metrics()
    trace, sink, skips = Trace(), _Sink(), _Skips()
    places: list[tuple[logging.Logger, logging.Handler]]
    places = [(logging.getLogger("torch.__trace"), sink)]
    places += [(logging.getLogger(name), skips) for name in _SKIP_LOGS]
    for logger, handler in places:
        logger.addHandler(handler)
    skipped = dynamo_utils.counters["inductor"]["cudagraph_skips"]

    def refresh() -> None:
        metrics = dynamo_utils.get_compilation_metrics()
        trace.breaks = merge_breaks(map(read_break, sink.payloads))
        trace.recompiles = placed(_recompile(one) for one in metrics if one.recompile_reason)
        trace.eager_frames = tuple(map(_eager_frame, filter(_gave_up, metrics)))
        trace.compiled_frames = sum(bool(m.has_guarded_code) for m in metrics)
        trace.phases = compile_phases(metrics)
        more = dynamo_utils.counters["inductor"]["cudagraph_skips"] - skipped
        trace.cudagraph_skips = _skips(skips.reasons, more)

    trace.refresh = refresh
    try:
        yield trace
    finally:
        for logger, handler in places:
            logger.removeHandler(handler)
        refresh()


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


def fullgraph(call: Callable[[], object]) -> tuple[str, str]:
    """Whether a call that was compiled with ``fullgraph=True`` works, and why not."""
    try:
        call()
    except torch._dynamo.exc.TorchDynamoException as error:
        first = read_break(str(error))
        return "refused", f"{first.gb_id or type(error).__name__} {first.reason}"
    except Exception:  # noqa: BLE001 - the user's own exception; the comparison reports it
        return "unavailable", ""
    return "possible", ""


def _recompile(metric: Any) -> Recompile:
    at = Frame(metric.co_filename or "?", metric.co_firstlineno or 0, metric.co_name or "?")
    return read_recompile(
        str(metric.compile_id), metric.recompile_reason, metric.fail_reason or "", at
    )


def _skips(reasons: list[str], count: int) -> tuple[str, ...]:
    """Why CUDA graphs were not used; a count alone where this torch does not say."""
    told = tuple(dict.fromkeys(reasons))
    return told or ((f"{count} graphs, for unknown reasons",) if count else ())


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
