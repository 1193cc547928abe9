"""TCL103: `.tolist()` in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import HostRead

from ..proofs.lists import known_list
from ..proofs.purity import cannot_raise
from ..proofs.reads import is_captured, is_judged_elsewhere, repair_read
from ..proofs.uses import uses_of


class TolistInCompiledRegion(Rule[HostRead]):
    """A whole tensor is copied into a Python list where Dynamo traces.

    ## What it does
    Reports `tensor.tolist()` in compiled code. Integer tensors are traced where the region
    captures scalars (`fullgraph=True`).

    ## Why it hurts
    The graph ends there, the CPU waits for the GPU and copies all elements, and code that uses the
    numbers is compiled again for other numbers.

    ## Fix safety
    A list that nobody uses is not made any more, and a list of integers that the function itself
    made the tensor of is used as it is. `.tolist()` of a tensor without dimensions is treated like
    `.item()` (TCL101). All other calls are declined: what takes their place depends on what the
    numbers are for. `torch.split(x, sizes.tolist())`, for one, needs sizes known ahead.

    ## References
    - [Graph break GB0109](https://meta-pytorch.org/compile-graph-break-site/gb/gb0109.html)
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    """

    code = "TCL103"
    name = "tolist-in-compiled-region"
    summary = "`.tolist()` in compiled code breaks the graph and copies the tensor to the host"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0109", "GB0033")
    examples = (
        Bad(
            """
def f(x):
    total = x.float().sum().tolist()
    return x.float() - total
""",
            fixed="""
def f(x):
    total = x.float().sum().detach()
    return x.float() - total
""",
            proves=("GB0109",),
            title="one number",
        ),
        Bad(
            """
def f(x):
    values = x.tolist()
    return x + 1
""",
            fixed="""
def f(x):
    return x + 1
""",
            proves=("GB0109",),
            title="nobody uses the list",
        ),
        Untouched(
            """
def f(x, sizes):
    return torch.split(x, sizes.tolist())
""",
            inputs="(torch.ones(4, 3), torch.tensor([1, 3]))",
            reason="needs Python numbers",
            proves=("GB0033",),
            title="the numbers are sizes",
        ),
        Good(
            """
def f(x):
    return x.reshape(list(x.shape))
""",
            title="sizes are numbers already",
        ),
    )

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless an integer tensor is traced through."""
        if event.via != "tolist" or is_judged_elsewhere(event):
            return None
        dtype = event.tensor.dtype
        category = dtype.category if dtype else None
        if is_captured(event) and category == "int":
            return None
        ids = {"int": ("GB0033",), None: self.gb_ids}.get(category, ("GB0109",))
        message = f"`{event.site.text(event.node)}` copies a tensor to the host"
        return Finding(message, _repair(event), gb_ids=ids)


def _repair(event: HostRead) -> Repair | Decline:
    if event.tensor.rank == 0:
        return repair_read(event)
    assert isinstance(event.node, ast.expr)
    known = known_list(event.site, event.source)
    if known is not None:
        return Repair("Use the list that the tensor was made of", (Replace(event.node, known),))
    uses = uses_of(event.site, event.node)
    if uses.statement is not None and cannot_raise(event.site, event.source):
        return Repair("Remove the unused list", (Replace(uses.statement, ""),))
    return Decline("the code around needs Python numbers")
