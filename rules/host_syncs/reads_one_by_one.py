"""TCL332: a training step reads several tensors one by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.options import Option
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.syntax import start_of

from ..lib.facts.training_loops import called, is_test, own_nodes, runs_every_time


class ReadsOneByOne(Rule[TrainingCall]):
    """A training step reads several tensors one by one."""

    code = "TCL332"
    name = "reads-one-by-one"
    summary = "Several `.item()` calls in every training step wait for the device"
    instead = "Stack the tensors and read them with one `.tolist()`, or read less often"
    worth = Worth.HINT
    measured = "nothing measurable in 4 cases (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    options = (Option("minimum-reads", 3, "How many reads in a step are reported."),)

    def check(self, event: TrainingCall) -> Finding | None:
        """Count the reads, at the first of them."""
        if event.name != "item" or not event.each_step or is_test(event.site, event.loop):
            return None
        reads = list(_reads(event))
        if (
            not reads
            or reads[0] is not event.call
            or len(reads) < self.option(event, "minimum-reads")
        ):
            return None
        return Finding(
            f"The CPU waits for each of {len(reads)} reads in every step",
            confidence=Confidence.LOW,
            related=tuple(reads[1:]),
        )


def _reads(event: TrainingCall) -> Iterator[ast.Call]:
    """The calls of `.item()` that each step makes, in the order of the text."""
    calls = [
        node
        for node in own_nodes(event.loop)
        if isinstance(node, ast.Call) and called(node) == "item" and not node.args
    ]
    calls.sort(key=start_of)
    return (call for call in calls if runs_every_time(event.site, call, event.loop))
