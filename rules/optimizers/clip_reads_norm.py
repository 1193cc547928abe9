"""TCL504: gradient clipping that asks whether the norm is finite."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import TrainingCall

from .programs import loop

CLIP = "nn.utils.clip_grad_norm_(model.parameters(), 1.0{checked})"


class ClipReadsNorm(Rule[TrainingCall]):
    """`clip_grad_norm_` with `error_if_nonfinite=True` in a training loop.

    What it does:
        Reports `error_if_nonfinite=True` in loops that run `backward()`.

    Why it hurts:
        The CPU waits for the norm in every step: one host sync on an H200, where clipping 24 layers
        took 0.41 ms instead of 0.36 ms (torch 2.11), and work cannot be queued ahead any more. In
        compiled code it breaks the graph (GB0170). Without it, clipping has no sync.

    Fix safety:
        Not fixed: the exception would be lost. The norm that `clip_grad_norm_` returns can be
        looked at every so many steps.

    References:
        `torch.nn.utils.clip_grad_norm_`.
    """

    code = "TCL504"
    name = "clip-reads-norm"
    summary = "`error_if_nonfinite=True` waits for the gradient's norm in every step"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code=loop(before=CLIP.format(checked=", error_if_nonfinite=True")),
            reason="the exception would be lost",
            proves=("host-sync",),
            title="checked in every step",
        ),
        Good(
            code=(
                "model = nn.Linear(3, 3)\n\n\ndef f(x):\n    for _ in range(2):\n"
                "        x = model(x)\n    return x\n"
            ),
            title="no training",
        ),
    )

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
            fix=Decline("the exception would be lost; look at the returned norm now and then"),
            confidence=Confidence.MEDIUM,
        )
