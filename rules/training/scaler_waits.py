"""TCL512: a gradient scaler that waits for the device in every step."""

from __future__ import annotations

import ast
from typing import ClassVar, Final

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TrainingCall

from ..optimizers.made_here import Made, maker, optimizer_of

# Adagrad's fused form is for CPUs alone.
FUSED: Final = frozenset({"torch.optim.Adam", "torch.optim.AdamW", "torch.optim.SGD"})
SCALERS: Final = frozenset({"torch.amp.GradScaler", "torch.cuda.amp.GradScaler"})
PROGRAM = """\
def f(x):
    model = nn.Linear(3, 3)
    optimizer = torch.optim.{optimizer}
    scaler = torch.amp.GradScaler("cpu")
    for _ in range(3):
        optimizer.zero_grad()
        scaler.scale(model(x).square().mean()).backward()
        scaler.step(optimizer)
        scaler.update()
    return model.weight.detach()
"""


class ScalerWaits(Rule[TrainingCall]):
    """A gradient scaler steps an optimizer that is not fused.

    What it does:
        Reports `scaler.step(optimizer)` in training loops where the optimizer is made in the same
        function, is Adam, AdamW or SGD, and is not `fused`.

    Why it hurts:
        Whether gradients overflowed decides if the optimizer steps, so the CPU has to wait for the
        answer: one host sync in each step on an H200 (torch 2.11). Fused optimizers decide on the
        device: none. They are also faster: AdamW over 24 layers of 512 took 0.16 ms instead of
        1.01 ms.

    Fix safety:
        Unsafe: fused results may differ in the last bits, and parameters must be floating point, on
        a device with a fused form (CPU, CUDA, MPS, XPU).

    References:
        `torch.amp.GradScaler.step`, `torch.optim`.
    """

    code = "TCL512"
    name = "scaler-waits"
    summary = "a gradient scaler waits for the device in each step of an unfused optimizer"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=PROGRAM.format(optimizer="SGD(model.parameters(), lr=0.1)"),
            unsafe=PROGRAM.format(optimizer="SGD(model.parameters(), lr=0.1, fused=True)"),
            proves=("host-sync",),
            title="unfused",
        ),
        Untouched(
            code=PROGRAM.format(optimizer="SGD(model.parameters(), lr=0.1, foreach=True)"),
            reason="excludes `fused`",
            proves=("host-sync",),
            title="another implementation chosen",
        ),
        Good(
            code=PROGRAM.format(optimizer="SGD(model.parameters(), lr=0.1, fused=True)").replace(
                "def f(x):", "def f(x):\n    return x\n\n\ndef train(x):"
            ),
            title="fused",
        ),
    )

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
            f"the scaler waits for the device before each step of `{optimizer}`: fused optimizers "
            "decide there",
            fix=_repair(made),
            confidence=Confidence.MEDIUM,
        )


def _repair(made: Made) -> Repair | Decline:
    if made.given & {"foreach", "differentiable"}:
        return Decline("`foreach` or `differentiable` is given, which excludes `fused`")
    return Repair(
        "Use the fused form",
        (AddArgument(made.call, "True", keyword="fused"),),
        Applicability.UNSAFE,
        changes="last bits may differ; parameters must be floating point, on a device that has it",
    )
