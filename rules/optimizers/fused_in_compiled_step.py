"""TCL502: a fused optimizer whose step is compiled."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule, SpentIn
from tclint.semantics.events import OptimizerInit


class FusedInCompiledStep(Rule[OptimizerInit]):
    """The step of a fused optimizer is compiled."""

    code = "TCL502"
    name = "fused-optimizer-in-compiled-step"
    summary = "A fused optimizer breaks the graph of a compiled step, and needs no compiling"
    instead = "Call `optimizer.step()` outside of the compiled code"
    on = OptimizerInit
    spent_in = SpentIn.OPTIMIZER
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0098", "GB7000")
    outside_regions = True

    def check(self, event: OptimizerInit) -> Finding | None:
        """Look for a literal `fused=True`."""
        fused = event.keywords.get("fused")
        if not event.compiled_step or not isinstance(fused, ast.Constant) or not fused.value:
            return None
        return Finding(
            "The compiled step of this optimizer is fused: the graph breaks, and it runs eagerly",
            fix=Advice("call `step()` outside of compiled code: it is one kernel already"),
            confidence=Confidence.HIGH,
        )
