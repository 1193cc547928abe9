"""TCL503: an optimizer that updates one parameter at a time."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import OptimizerInit

from .examples import STEPS, program

CONSTANT = "ConstantLR(optimizer, factor=1.0)"


class SingleTensorStep(Rule[OptimizerInit]):
    """An optimizer with `foreach=False` whose step is compiled.

    What it does:
        Reports `foreach=False` where `step` runs in a compiled region and `fused` is not set.

    Why it hurts:
        Each parameter is updated by operations of its own, which inductor fuses only in part: an
        AdamW step of eight parameters is traced as 160 operators, and as 59 with the default for
        GPUs (torch 2.13). On an H200 (torch 2.11, AdamW, 24 layers of 512) the compiled step takes
        0.98 ms instead of 0.44 ms with the default, and the eager one 3.39 ms instead of 1.01 ms.
        On a CPU it is the default and costs nothing.

    Fix safety:
        Unsafe: in eager mode the update of all parameters at once needs about as much memory again
        as the parameters; results may differ in the last bits.

    References:
        `torch.optim`: foreach and fused implementations.
    """

    code = "TCL503"
    name = "single-tensor-step"
    summary = "`foreach=False` more than doubles a compiled step's time on a GPU"
    on = OptimizerInit
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=program("SGD(model.parameters(), lr=0.5, foreach=False)", CONSTANT, "pass"),
            unsafe=program("SGD(model.parameters(), lr=0.5, foreach=None)", CONSTANT, "pass"),
            inputs=STEPS,
            title="compiled",
        ),
        Good(
            code=program(
                "AdamW(model.parameters(), foreach=False)", CONSTANT, "pass", compiled=""
            ).replace("def f(x):\n", "g = torch.compile(model)\n\n\ndef f(x):\n    g(x)\n"),
            inputs=STEPS,
            title="eager",
        ),
    )

    def check(self, event: OptimizerInit) -> Finding | None:
        """Look for a literal `foreach=False`."""
        foreach = event.keywords.get("foreach")
        if not event.compiled_step or "fused" in event.keywords:
            return None
        if not isinstance(foreach, ast.Constant) or foreach.value is not False:
            return None
        return Finding(
            "with `foreach=False` the compiled step updates one parameter after the other: more "
            "than twice the time on a GPU",
            fix=Repair(
                "Let torch choose",
                (AddArgument(event.call, "None", keyword="foreach"),),
                Applicability.UNSAFE,
                changes="eager steps need more memory, and last bits may differ",
            ),
            node=foreach,
            confidence=Confidence.MEDIUM,
        )
