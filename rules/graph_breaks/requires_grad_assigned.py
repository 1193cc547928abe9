"""TCL183: `requires_grad` is assigned in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorWrite

from ..lib.rewrite.eager_gradients import switch_in_eager
from ..lib.wording import consequence, loop_ids, renumbered, short


class RequiresGradAssigned(Rule[TensorWrite]):
    """Compiled code assigns a tensor's `requires_grad`."""

    code = "TCL183"
    name = "requires-grad-assigned"
    summary = "Assigning `requires_grad` in compiled code breaks the graph"
    instead = "Set `requires_grad` before the compiled call; inside, `.detach()` stops gradients"
    on = TensorWrite
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0206", "GB8985", "GB7000")

    def check(self, event: TensorWrite) -> Finding | None:
        """Report the assignment."""
        if event.attribute != "requires_grad":
            return None
        owner = short(event.site, event.owner)
        return Finding(
            f"`{owner}.requires_grad` is assigned in compiled code{consequence(event.site)}",
            switch_in_eager(event.site, event.owner, event.tensor),
            gb_ids=loop_ids(event.site, renumbered(event.site, "GB0206", (2, 15), "GB8985")),
        )
