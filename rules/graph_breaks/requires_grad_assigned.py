"""TCL183: `requires_grad` is assigned in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorWrite

from ..decisions.wording import consequence, loop_ids, short
from ..repairs.eager_gradients import switch_in_eager


class RequiresGradAssigned(Rule[TensorWrite]):
    """A tensor's `requires_grad` is assigned in compiled code.

    ## What it does
    Reports `t.requires_grad = ...` in compiled code, on inputs, parameters and results.

    ## Why it hurts
    Whether gradients are needed decides what the graph is, so Dynamo ends it there.

    ## Fix safety
    For a tensor that is made in the function and whose gradient nobody looks at, the assignment is
    left to eager code: gradients of parameters and inputs stay. Never safe, because the results
    of compiled code need no gradient where nothing else does. Declined for inputs, parameters and
    tensors that are returned or kept: there the assignment has to move out.

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
        Bad(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = x[None]
        if self.training:
            y.requires_grad = True
        return self.layer(y)
""",
            unsafe="""
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x):
        y = x[None]
        if self.training and not torch.compiler.is_compiling():
            y.requires_grad = True
        return self.layer(y)
""",
            proves=("GB0206",),
            title="for checkpointing",
        ),
        Untouched(
            "\ndef f(x):\n    y = x.detach()\n    y.requires_grad = True\n    return y\n",
            reason="can be seen later",
            proves=("GB0206",),
            title="the tensor is returned",
        ),
        Untouched(
            "\ndef f(x):\n    x.requires_grad = True\n    return x * 2\n",
            reason="before compiled code",
            proves=("GB0206",),
            title="an input",
        ),
        Good("\ndef f(x):\n    return x.detach() * 2 if x.requires_grad else x\n"),
    )

    def check(self, event: TensorWrite) -> Finding | None:
        """Report the assignment."""
        if event.attribute != "requires_grad":
            return None
        owner = short(event.site, event.owner)
        return Finding(
            f"`{owner}.requires_grad` is assigned in compiled code{consequence(event.site)}",
            switch_in_eager(event.site, event.owner, event.tensor),
            gb_ids=loop_ids(event.site, "GB0206"),
        )
