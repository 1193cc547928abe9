"""TCL507: a compiled model whose optimizer updates by many small kernels."""

from __future__ import annotations

import ast
from typing import ClassVar, Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import OptimizerInit
from tclint.semantics.site import Site

from .examples import STEPS

# From which torch on the fused implementation is there.
_FUSED_SINCE: Final = {
    "torch.optim.Adam": (2, 0),
    "torch.optim.AdamW": (2, 0),
    "torch.optim.SGD": (2, 3),
}
# Whoever gives one of these has chosen an implementation.
_CHOICES: Final = frozenset({"fused", "foreach", "capturable", "differentiable", None})
_DECLINED: Final = Decline(
    "pass `fused=True`, unless gradients are sparse or parameters are no floating-point numbers: "
    "it raises for them, and last bits may differ"
)
_PROGRAM: Final = """\
model = nn.Linear(3, 3)
compiled = torch.compile(model)
optimizer = torch.optim.{optimizer}


def f(x):
    compiled(x).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    return model.weight.detach()
"""


class UnfusedStep(Rule[OptimizerInit]):
    """An optimizer that is neither fused nor compiled, in a file that compiles its model.

    What it does:
        Reports `Adam`, `AdamW` and `SGD` made without `fused`, `foreach`, `capturable` or
        `differentiable` in a file that calls `torch.compile`, where no compiled code runs `step`.

    Why it hurts:
        What is left out of the compiled step runs eagerly, one kernel after the other: with AdamW
        and 24 layers of 512 it takes 1.01 ms on an H200 (torch 2.11), with `fused=True` 0.16 ms.
        Compiling the step also helps (0.44 ms), but takes 17 s. On one thread of a CPU (torch 2.13,
        72 tensors of a transformer) 12.7 ms, fused 2.3 ms, and compiled 2.0 ms after 86 s.

    Fix safety:
        Not fixed: `fused=True` raises for sparse gradients and for parameters that are no
        floating-point numbers, and last bits may differ. Whether the step weighs anything next to
        the model is not known: the confidence is low.

    References:
        `torch.optim`: foreach and fused implementations.
    """

    code = "TCL507"
    name = "unfused-step-of-compiled-model"
    summary = "a compiled model's optimizer runs eagerly, by many kernels instead of one"
    on = OptimizerInit
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code=_PROGRAM.format(optimizer="AdamW(model.parameters(), lr=0.1)"),
            reason="pass `fused=True`",
            inputs=STEPS,
            title="left to the default",
        ),
        Good(
            code=_PROGRAM.format(optimizer="AdamW(model.parameters(), lr=0.1, fused=True)"),
            inputs=STEPS,
            title="fused",
        ),
        Good(
            code=_PROGRAM.format(optimizer="SGD(model.parameters(), foreach=True)"),
            inputs=STEPS,
            title="chosen",
        ),
    )

    def check(self, event: OptimizerInit) -> Finding | None:
        """Look for an optimizer that nobody has chosen an implementation for."""
        since = _FUSED_SINCE.get(event.optimizer)
        if since is None or event.compiled_step:
            return None
        given = {keyword.arg for keyword in event.call.keywords}
        if given & _CHOICES or len(event.call.args) > 2 or not _compiles(event.site):
            return None
        return Finding(
            "its step is neither compiled nor fused: `fused=True` updates all parameters at once",
            fix=_DECLINED,
            confidence=Confidence.LOW,
            since=since,
        )


def _compiles(site: Site) -> bool:
    """True in a file that calls `torch.compile`, or decorates with it."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "compile"
        and site.dotted(node) == "torch.compile"
        for node in ast.walk(site.module.tree)
    )
