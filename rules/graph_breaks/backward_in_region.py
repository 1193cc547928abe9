"""TCL182: gradients are computed where Dynamo traces."""

from __future__ import annotations

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call

from ..lib.wording import consequence, loop_ids

_IDS = {
    "torch.Tensor.backward": "GB0123",
    "torch.autograd.backward": "GB0007",
    "torch.autograd.grad": "GB9186",
}
_WAY_OUT = {
    "torch.autograd.grad": "`torch.func.grad` and `torch.func.vjp` are traced, and "
    "`torch._dynamo.config.trace_autograd_ops` lets Dynamo trace this one",
}
_OUTSIDE = (
    "compile the forward pass and the loss, and call this outside: their backward graph is "
    "compiled as well; compiled autograd (`torch._dynamo.config.compiled_autograd`) compiles more"
)


class BackwardInRegion(Rule[Call]):
    """Compiled code computes gradients."""

    code = "TCL182"
    name = "backward-in-region"
    summary = "`backward()` or `torch.autograd.grad` in compiled code breaks the graph"
    instead = (
        "Compile the forward pass and the loss, and call `backward()` outside; `torch.func.grad` "
        "is traced"
    )
    on = Call
    called = ("backward", "grad")
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0123", "GB9186", "GB0007", "GB7000")

    def check(self, event: Call) -> Finding | None:
        """Report the call."""
        gb_id = _IDS.get(event.function)
        if gb_id is None:
            return None
        text = event.site.text(event.call.func)
        return Finding(
            f"`{text}` runs the backward pass in compiled code{consequence(event.site)}",
            Advice(_WAY_OUT.get(event.function, _OUTSIDE)),
            gb_ids=loop_ids(event.site, gb_id),
        )
