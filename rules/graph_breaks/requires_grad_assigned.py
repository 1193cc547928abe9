"""TCL183: `requires_grad` is assigned in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorWrite

from ..decisions.gradients import WAY_OUT
from ..decisions.wording import consequence, loop_ids, short


class RequiresGradAssigned(Rule[TensorWrite]):
    """A tensor's `requires_grad` is assigned in compiled code.

    ## What it does
    Reports `t.requires_grad = ...` in compiled code, on inputs, parameters and results.

    ## Why it hurts
    Whether gradients are needed decides what the graph is, so Dynamo ends it there.

    ## Fix safety
    Not fixed: the assignment has to move out of the compiled function.

    ## References
    - [Graph break GB0206](https://meta-pytorch.org/compile-graph-break-site/gb/gb0206.html)
    """

    code = "TCL183"
    name = "requires-grad-assigned"
    summary = "assigning `requires_grad` in compiled code breaks the graph"
    on = TensorWrite
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0206", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    y = x.detach()\n    y.requires_grad = True\n    return y * 2\n",
            reason="before compiled code",
            proves=("GB0206",),
        ),
        Good("\ndef f(x):\n    return x.detach() * 2 if x.requires_grad else x\n"),
    )

    def check(self, event: TensorWrite) -> Finding | None:
        """Report the assignment."""
        if event.attribute != "requires_grad":
            return None
        target = short(event.site, event.target)
        return Finding(
            f"`{target}` is assigned in compiled code{consequence(event.site)}",
            Decline(WAY_OUT),
            gb_ids=loop_ids(event.site, "GB0206"),
        )
