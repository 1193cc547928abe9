"""TCL507: a compiled model whose optimizer updates by many small kernels."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import OptimizerInit
from tclint.semantics.site import Site
from tclint.torch_facts.lifetimes import FIRST, since

_FUSED: Final = frozenset({"torch.optim.Adam", "torch.optim.AdamW", "torch.optim.SGD"})
# Whoever gives one of these has chosen an implementation.
_CHOICES: Final = frozenset({"fused", "foreach", "capturable", "differentiable", None})
_DECLINED: Final = Decline(
    "pass `fused=True`, unless gradients are sparse or parameters are not floating-point: it "
    "raises for those, and last bits may differ"
)


class UnfusedStep(Rule[OptimizerInit]):
    """A file compiles its model, but its optimizer is neither fused nor compiled."""

    code = "TCL507"
    name = "unfused-step-of-compiled-model"
    summary = "A compiled model's optimizer runs eagerly, with many kernels instead of one"
    worth = Worth.MEDIUM
    measured = "0.7 ms a step of AdamW with 98 tensors, 5% of a training step of 14 ms (H200)"
    on = OptimizerInit
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True

    def check(self, event: OptimizerInit) -> Finding | None:
        """Look for an optimizer that nobody has chosen an implementation for."""
        if event.optimizer not in _FUSED or event.compiled_step:
            return None
        given = {keyword.arg for keyword in event.call.keywords}
        if given & _CHOICES or len(event.call.args) > 2 or not _compiles(event.site):
            return None
        return Finding(
            "The step of this optimizer is neither compiled nor fused: `fused=True` updates "
            "all parameters at once",
            fix=_DECLINED,
            confidence=Confidence.LOW,
            since=max(FIRST, since(event.optimizer, "fused") or FIRST),
        )


def _compiles(site: Site) -> bool:
    """True in a file that calls `torch.compile`, or decorates with it."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "compile"
        and site.dotted(node) == "torch.compile"
        for node in ast.walk(site.module.tree)
    )
