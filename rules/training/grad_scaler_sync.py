"""TCL512: a gradient scaler that waits for the device in every step."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall

from ..lib.facts.optimizers import Made, maker, optimizer_of

# Adagrad's fused form is for CPUs alone.
FUSED: Final = frozenset({"torch.optim.Adam", "torch.optim.AdamW", "torch.optim.SGD"})
SCALERS: Final = frozenset({"torch.amp.GradScaler", "torch.cuda.amp.GradScaler"})


class GradScalerSync(Rule[TrainingCall]):
    """A gradient scaler steps an unfused optimizer."""

    code = "TCL512"
    name = "grad-scaler-sync"
    former_names = ("scaler-waits",)
    summary = "A gradient scaler waits for the device in each step of an unfused optimizer"
    instead = "Use an optimizer with `fused=True`, which checks for overflow on the device"
    worth = Worth.MEDIUM
    measured = "8% to 12% of a training step in 3 of 4 cases (H200)"
    on = TrainingCall
    on_gpu = True
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Find what made the scaler and the optimizer."""
        match event.call:
            case ast.Call(
                func=ast.Attribute(attr="step", value=ast.Name(id=scaler)),
                args=[ast.Name(id=optimizer)],
            ):
                pass
            case _:
                return None
        site = event.site
        by, made = maker(site, scaler), optimizer_of(site, optimizer)
        if made is None or by is None or site.dotted(by.func) not in SCALERS:
            return None
        if made.name not in FUSED or made.given & {"fused", None}:
            return None
        return Finding(
            f"The scaler makes the CPU wait before each step of `{optimizer}`",
            fix=_repair(made),
            confidence=Confidence.MEDIUM,
        )


def _repair(made: Made) -> Repair | Decline:
    if made.given & {"foreach", "differentiable"}:
        return Decline("`foreach` or `differentiable` is given, which excludes `fused`")
    return Repair(
        "Use the fused optimizer",
        (AddArgument(made.call, "True", keyword="fused"),),
        Change.BEHAVIOUR,
        changes="last bits may differ; parameters must be floating-point, on a device that has the "
        "fused optimizer",
    )
