"""TCL516: a training step is timed without waiting for the device."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
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
    match site.parent(call):
        case ast.BinOp(op=ast.Sub(), left=left, right=ast.Name(id=start)) if left is call:
            pass
        case ast.Assign(targets=[ast.Name(id=end)]):
            start = _subtracted(site, end, loop)
        case _:
            return None
    for block in _blocks(loop):
        last = next((k for k, s in enumerate(block) if call in nodes(s)), None)
        first = next((k for k, s in enumerate(block) if _starts(site, s, start)), None)
        if last is not None and first is not None and first < last:
            return [*block[first + 1 : last], *_before(block[last], call)]
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


def _subtracted(site: Site, end: str, loop: StepBody) -> str:
    """What is subtracted from a time."""
    for load in site.loads(end):
        match site.parent(load):
            case ast.BinOp(op=ast.Sub(), left=left, right=ast.Name(id=start)) if left is load:
                return start
    return ""


def _blocks(loop: StepBody) -> Iterator[list[ast.stmt]]:
    """The body and the bodies of what is entered in it."""
    yield loop.body
    for node in nodes(loop):
        if isinstance(node, ast.With):
            yield node.body


def _starts(site: Site, statement: ast.stmt, name: str) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Call(func=func)):
            return bound == name and site.dotted(func) in _CLOCKS
    return False


def _is_work(timed: list[ast.AST]) -> bool:
    """True where the device gets work, and nothing that may wait for it is called."""
    inside = [node for part in timed for node in nodes(part)]
    names = {called(node) for node in inside}
    formats = any(isinstance(node, ast.FormattedValue) for node in inside)
    return bool(names & _WORK) and not names & _WAITS and not formats
