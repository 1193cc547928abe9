"""TCL502: a fused optimizer whose step is compiled."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import OptimizerInit

from .examples import STEPS

PROGRAM = """\
model = nn.Linear(3, 3)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1{fused})


@torch.compile
def update():
    optimizer.step()


def f(x):
    model(x).sum().backward()
    update()
    return model.weight.detach()
"""


class FusedInCompiledStep(Rule[OptimizerInit]):
    """A fused optimizer whose step is compiled.

    What it does:
        Reports optimizers made with `fused=True` whose `step` runs in a compiled region.

    Why it hurts:
        Dynamo does not trace fused steps: the graph breaks, and the step runs eagerly behind
        guards. On an H200 (torch 2.11, AdamW, 24 layers of 512) a fused step takes 0.16 ms and the
        compiled one 0.21 ms, after 2 s of compiling. Fused and eager is the fastest of all: the
        default takes 1.01 ms, and compiled 0.44 ms after 17 s.

    Fix safety:
        Not fixed: call `optimizer.step()` outside of what is compiled.

    References:
        GB0098, GB7000.
    """

    code = "TCL502"
    name = "fused-optimizer-in-compiled-step"
    summary = "A fused optimizer breaks the graph of a compiled step, and needs no compiling"
    on = OptimizerInit
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0098", "GB7000")
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code=PROGRAM.format(fused=", fused=True"),
            reason="outside of what is compiled",
            inputs=STEPS,
            proves=("GB0098", "GB7000"),
            title="fused and compiled",
        ),
        Good(
            code=(
                PROGRAM.format(fused=", fused=True")
                .replace("@torch.compile\n", "")
                .replace("model(x).sum()", "g(x).sum()")
                .replace("def f(x)", "g = torch.compile(model)\n\n\ndef f(x)")
            ),
            inputs=STEPS,
            title="fused and eager",
        ),
    )

    def check(self, event: OptimizerInit) -> Finding | None:
        """Look for a literal `fused=True`."""
        fused = event.keywords.get("fused")
        if not event.compiled_step or not isinstance(fused, ast.Constant) or not fused.value:
            return None
        return Finding(
            "its step is compiled, but Dynamo does not trace fused steps: it breaks the graph and "
            "runs eagerly",
            fix=Decline("call `step()` outside of what is compiled: it is one kernel already"),
            confidence=Confidence.HIGH,
        )
