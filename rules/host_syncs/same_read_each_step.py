"""TCL333: a training loop reads a number that stays the same, in every step."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Confidence, Effect
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.site import Site
from tclint.semantics.training import StepBody
from tclint.semantics.values import Tensor

from ..lib.facts.training_loops import is_test, of_each_step, runs_every_time
from .fresh_tensors import only_read


class SameReadEachStep(Rule[TrainingCall]):
    """A training loop reads a tensor in every step but never changes it."""

    code = "TCL333"
    name = "same-read-each-step"
    summary = "A training step reads a tensor that the loop does not change"
    instead = "Read the number once, before the loop"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for a read of a variable that the loop only reads."""
        site, read = event.site, event.call
        match read.func:
            case ast.Attribute(attr="item", value=ast.Name() as tensor):
                pass
            case _:
                return None
        if isinstance(event.loop, ast.FunctionDef):
            return None  # its parameters may be other tensors each time
        value = site.value(tensor)
        if not isinstance(value, Tensor) or value.device == "cpu" or is_test(site, event.loop):
            return None
        inside = of_each_step(event.loop)
        reads = [r for r in only_read(site, tensor.id, event.loop) if r in inside]
        if not reads or reads[0] is not read or not _in_each_step(site, read, event.loop):
            return None
        return Finding(
            f"`{site.text(read)}` is the same in every step, and the CPU waits for it each time",
            _hoisted(event, tensor, reads, safe=value.rank == 0),
            confidence=Confidence.MEDIUM,
            related=tuple(reads[1:]),
        )


def _in_each_step(site: Site, read: ast.expr, loop: StepBody) -> bool:
    decided = site.parent(read)
    tested = isinstance(decided, ast.If) and decided.test is read
    return runs_every_time(site, decided if tested and decided else read, loop)


def _hoisted(event: TrainingCall, tensor: ast.Name, reads: list[ast.Call], *, safe: bool) -> Repair:
    name = f"{tensor.id}_value"
    while name in event.site.module.file.text:
        name += "_"
    return Repair(
        "Read it once, before the loop",
        (
            Insert(event.loop, f"{name} = $read", {"read": reads[0]}),
            *(Replace(read, name) for read in reads),
        ),
        Change.SAME_BITS if safe else Change.BEHAVIOUR,
        changes="" if safe else "it is read even if the loop never runs",
    )
