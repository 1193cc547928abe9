"""TCL516: a training step is timed without waiting for the device."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.flow import Definition
from tclint.semantics.site import Site
from tclint.semantics.syntax import beside, nodes
from tclint.semantics.training import StepBody

from ..lib.facts.devices import may_be_on_gpu
from ..lib.facts.training_loops import called, is_test

_CLOCKS: Final = frozenset(
    {"time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns"}
)
_WAITS: Final = frozenset(
    {"synchronize", "item", "cpu", "tolist", "numpy", "float", "int", "bool", "wait", "barrier"}
    | {"print", "isfinite", "isnan", "isinf", "elapsed_time", "result", "join", "mark_step"}
)
_ANY_DEVICE: Final = "Call `torch.accelerator.synchronize()` before each reading of the clock"
_WORK: Final = frozenset({"backward", "manual_backward"})


class ClockWithoutWait(Rule[TrainingCall]):
    """A clock times a part of a training step, but the code does not wait for the GPU."""

    code = "TCL516"
    name = "clock-without-wait"
    summary = "A clock around GPU work shows how long it took to launch it"
    instead = (
        "Call `torch.cuda.synchronize()` before each reading of the clock, or time with CUDA events"
    )
    worth = Worth.LOW
    measured = "no time: only the number is wrong, where the CPU runs ahead of the device"
    on = TrainingCall
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for `clock() - start`, where both are of one step."""
        site, call = event.site, event.call
        if not event.each_step or site.dotted(call.func) not in _CLOCKS or call.args:
            return None
        if not may_be_on_gpu(site) or is_test(site, event.loop):
            return None
        timed = _timed(site, call, event.loop)
        if timed is None or not _is_work(timed):
            return None
        return Finding(
            f"`{site.text(call)}` is read before the device is done: it times launches, not work",
            confidence=Confidence.MEDIUM,
            instead="" if "cuda" in site.module.file.text else _ANY_DEVICE,
        )


def _timed(site: Site, call: ast.Call, loop: StepBody) -> list[ast.AST] | None:
    """What runs between the start of a clock and this reading of it, from one block on."""
    end = site.flow.holder(call)
    ends = [call, *([] if end is None else site.flow.reads(end))]
    start = next(filter(None, (_subtracted(site, read) for read in ends)), None)
    if start is None or not isinstance(start.value, ast.Call):
        return None
    inner: ast.AST = call
    for outer in site.ancestors(call) if site.dotted(start.value.func) in _CLOCKS else ():
        before, _ = beside(outer, inner)
        if start.node in before and (outer is loop or isinstance(outer, ast.With)):
            since = next(k for k, one in enumerate(before) if one is start.node)
            return [*before[since + 1 :], *_before(inner, call)]
        if outer is loop:
            return None
        inner = outer
    return None


def _subtracted(site: Site, end: ast.expr) -> Definition | None:
    """What is subtracted from a time."""
    match site.parent(end):
        case ast.BinOp(op=ast.Sub(), left=left, right=start) if left is end:
            return site.flow.definition(start)
    return None


def _before(node: ast.AST, call: ast.Call) -> list[ast.AST]:
    """What runs inside of a statement before it comes to a call: conditions, earlier statements."""
    found: list[ast.AST] = []
    for _, value in ast.iter_fields(node):
        listed = value if isinstance(value, list) else [value]
        parts = [part for part in listed if isinstance(part, ast.AST)]
        holder = next((part for part in parts if call in nodes(part)), None)
        if isinstance(holder, ast.expr):
            return found
        if holder is not None:
            earlier = parts[: parts.index(holder)] if isinstance(holder, ast.stmt) else []
            return [*found, *earlier, *_before(holder, call)]
        found += [part for part in parts if not isinstance(part, ast.stmt)]
    return found


def _is_work(timed: list[ast.AST]) -> bool:
    """True where the device gets work, and nothing that may wait for it is called."""
    inside = [node for part in timed for node in nodes(part)]
    names = {called(node) for node in inside}
    formats = any(isinstance(node, ast.FormattedValue) for node in inside)
    return bool(names & _WORK) and not names & _WAITS and not formats
