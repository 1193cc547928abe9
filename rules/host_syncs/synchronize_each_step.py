"""TCL331: a training step waits for the device, or empties a cache."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site

from ..lib.facts.training_loops import called, is_test, own_nodes, runs_every_time

_WAITING: Final = {
    "torch.cuda.synchronize": "waits for the GPU",
    "torch.accelerator.synchronize": "waits for the GPU",
    "torch.xpu.synchronize": "waits for the GPU",
    "torch.cuda.empty_cache": "frees memory that the next step allocates again",
    "torch.accelerator.empty_cache": "frees memory that the next step allocates again",
    "torch.accelerator.memory.empty_cache": "frees memory that the next step allocates again",
    "torch.xpu.empty_cache": "frees memory that the next step allocates again",
    "torch.mps.empty_cache": "frees memory that the next step allocates again",
    "gc.collect": "visits every object in the process",
}
_CLOCKS: Final = frozenset({"time", "perf_counter", "monotonic", "elapsed_time", "perf_counter_ns"})


class SynchronizeEachStep(Rule[TrainingCall]):
    """A training loop waits for the GPU, empties its cache, or collects garbage in every step."""

    code = "TCL331"
    name = "synchronize-each-step"
    summary = "Every training step waits for the GPU or empties its cache"
    instead = "Remove the call, or make it every few steps"
    worth = Worth.HIGH
    measured = "24% to 98% of a training step in 8 of 12 cases (H200)"
    on = TrainingCall
    on_gpu = True
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for what waits in the innermost loop of a training step."""
        site, loop = event.site, event.loop
        dotted = _dotted(site, event.call.func)
        if dotted not in _WAITING or site.spell(dotted) is None:
            return None
        if not runs_every_time(site, event.call, loop) or is_test(site, loop):
            return None
        if not event.each_step or any(called(node) in _CLOCKS for node in own_nodes(loop)):
            return None
        return Finding(
            f"`{site.text(event.call)}` {_WAITING[dotted]}, in every step",
            _repair(event, dotted),
            confidence=Confidence.MEDIUM,
            worth=Worth.HINT if dotted.endswith(".synchronize") else None,
        )


def _dotted(site: Site, func: ast.expr) -> str:
    """The name of what is called, also by way of a variable: `sync = torch.cuda.synchronize`."""
    if isinstance(func, ast.Name):
        held = site.flow.value(func)
        if not site.flow.made(func.id):
            held = site.module.assigned.get(func.id)
        if isinstance(held, ast.Attribute):
            return site.dotted(held) or ""
    return site.dotted(func) or ""


def _repair(event: TrainingCall, dotted: str) -> Repair | Decline:
    statement = event.site.parent(event.call)
    if not dotted.endswith(".synchronize") or not isinstance(statement, ast.Expr):
        return Advice("it may be what limits memory use: run it only every few steps")
    return Repair(
        "Remove it",
        (Replace(statement, ""),),
        Change.BEHAVIOUR,
        changes="an error on the GPU is reported by a later call",
    )
