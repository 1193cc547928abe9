"""TCL331: a training step waits for the device, or empties a cache."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TrainingCall

from .training_loops import called, is_step, is_test, own_nodes, runs_every_time

_WAITING: Final = {
    "torch.cuda.synchronize": "waits for the GPU",
    "torch.cuda.empty_cache": "gives memory back that the next step asks for again",
    "gc.collect": "visits every object of the process",
}
_CLOCKS: Final = frozenset({"time", "perf_counter", "monotonic", "elapsed_time", "perf_counter_ns"})
_HEADER: Final = "\nimport gc\n\nimport torch.nn.functional as F\n\n"
_STEP: Final = (
    "def train(model, optimizer, batches):\n    for x, y in batches:\n"
    "        loss = F.cross_entropy(model(x), y)\n        loss.backward()\n"
    "        optimizer.step()\n        optimizer.zero_grad()\n"
)
_F: Final = "\n\ndef f(x):\n    return x\n"


class SynchronizeEachStep(Rule[TrainingCall]):
    """A training loop waits for the GPU, empties its cache, or collects garbage in every step.

    ## What it does
    Reports `torch.cuda.synchronize()`, `torch.cuda.empty_cache()` and `gc.collect()` in loops that
    call `backward()` and `step()`, unless they run under a condition, the loop reads a clock, or
    the function is a test (`test_...`).

    ## Why it hurts
    The CPU can prepare the next step while the GPU works on this one, unless it is made to wait.
    A step of four linear layers took 1.05 ms on an H200, 1.44 with `torch.cuda.empty_cache()`, and
    494 ms with `gc.collect()` in a process that had compiled models. `synchronize()` alone made no
    measurable difference there, where the CPU was the slower side: it costs where that is the GPU.

    ## Fix safety
    Removing `synchronize()` is unsafe: an error on the GPU is then reported by a later call. The
    others are for the author to move: every hundredth step, or behind the loop.

    ## References
    - [Performance tuning guide](https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html)
    """

    code = "TCL331"
    name = "synchronize-each-step"
    summary = "a training step that waits for the GPU or empties its cache every time"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    examples = (
        Bad(
            f"{_HEADER}{_STEP}        torch.cuda.synchronize()\n{_F}",
            unsafe=f"{_HEADER}{_STEP}{_F}",
        ),
        Untouched(
            f"{_HEADER}{_STEP}        torch.cuda.empty_cache()\n        gc.collect()\n{_F}",
            reason="every so many steps",
            title="caches",
        ),
        Good(
            f"{_HEADER}{_STEP.replace('x, y in', 'i, (x, y) in')}        if i % 100 == 0:\n"
            f"            torch.cuda.empty_cache()\n    torch.cuda.synchronize()\n{_F}",
            title="now and then",
        ),
    )

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for what waits in the innermost loop of a training step."""
        site, loop = event.site, event.loop
        dotted = site.dotted(event.call.func) or ""
        if dotted not in _WAITING or site.spell(dotted) is None:
            return None
        if not runs_every_time(site, event.call, loop) or is_test(site, loop):
            return None
        if not is_step(loop) or any(called(node) in _CLOCKS for node in own_nodes(loop)):
            return None
        return Finding(
            f"`{site.text(event.call)}` {_WAITING[dotted]}, in every step",
            _repair(event, dotted),
            confidence=Confidence.MEDIUM,
        )


def _repair(event: TrainingCall, dotted: str) -> Repair | Decline:
    statement = event.site.parent(event.call)
    if dotted != "torch.cuda.synchronize" or not isinstance(statement, ast.Expr):
        return Decline("it may be what keeps the memory in bounds: run it every so many steps")
    return Repair(
        "Remove it",
        (Replace(statement, ""),),
        Applicability.UNSAFE,
        changes="an error on the GPU is reported by a later call",
    )
