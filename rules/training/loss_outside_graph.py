"""TCL510: a loss that works on a compiled model's output without being compiled."""

from __future__ import annotations

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompiledOutputUsed

# Fewer operations than this gain nothing from a graph of their own.
WORTHWHILE = 3


class LossOutsideGraph(Rule[CompiledOutputUsed]):
    """A function processes a compiled model's output outside compiled code."""

    code = "TCL510"
    name = "loss-outside-graph"
    summary = "A function processes a compiled model's output outside of compiled code"
    instead = "Compile one function that calls the model and then this"
    worth = Worth.MEDIUM
    measured = "9% of a distillation step (H200)"
    on = CompiledOutputUsed
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: CompiledOutputUsed) -> Finding | None:
        """Judge by how much the function does."""
        if event.operations < WORTHWHILE:
            return None
        return Finding(
            f"`{event.function}` runs outside of the graph: {event.operations} torch operations, "
            "launched one by one",
            fix=Advice("compile the function that calls both, or compile this one, too"),
            confidence=Confidence.MEDIUM,
        )
