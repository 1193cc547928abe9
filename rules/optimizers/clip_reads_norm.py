"""TCL504: gradient clipping that asks whether the norm is finite."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall


class ClipReadsNorm(Rule[TrainingCall]):
    """`clip_grad_norm_` with `error_if_nonfinite=True` in a training loop."""

    code = "TCL504"
    name = "clip-reads-norm"
    summary = "`error_if_nonfinite=True` waits for the gradient's norm in every step"
    instead = "Check the norm that `clip_grad_norm_` returns every few steps"
    worth = Worth.HINT
    measured = "nothing measurable in 4 cases (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for the literal keyword."""
        if event.name not in ("clip_grad_norm_", "clip_grads_with_norm_", "get_total_norm"):
            return None
        keywords = {k.arg: k.value for k in event.call.keywords}
        checked = keywords.get("error_if_nonfinite")
        if not isinstance(checked, ast.Constant) or checked.value is not True:
            return None
        return Finding(
            "`error_if_nonfinite=True` makes the CPU wait for the norm in every step",
            fix=Advice(
                "the exception would be lost; check the returned norm every few steps instead"
            ),
            confidence=Confidence.MEDIUM,
        )
