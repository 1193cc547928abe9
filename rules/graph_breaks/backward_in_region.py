"""TCL182: gradients are computed where Dynamo traces."""

from __future__ import annotations

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import Call

from ..decisions.wording import consequence, loop_ids

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
    """Gradients are computed inside of compiled code.

    ## What it does
    Reports `loss.backward()`, `torch.autograd.backward` and `torch.autograd.grad` in compiled code.

    ## Why it hurts
    Dynamo traces the forward pass and gets the backward pass from autograd; it does not trace
    through a call that runs it. The graph ends there. With `create_graph=True` the compiled
    function may raise, since the first graph's backward can run only once.

    ## Fix safety
    Not fixed: the step has to be split at the call.

    ## References
    - [Graph break GB0123](https://meta-pytorch.org/compile-graph-break-site/gb/gb0123.html)
    - [Graph break GB9186](https://meta-pytorch.org/compile-graph-break-site/gb/gb9186.html)
    """

    code = "TCL182"
    name = "backward-in-region"
    summary = "`backward()` or `torch.autograd.grad` in compiled code breaks the graph"
    on = Call
    called = ("backward", "grad")
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0123", "GB9186", "GB0007", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    loss = (x * 2).sum()\n    loss.backward()\n    return loss\n",
            reason="call this outside",
            inputs="(torch.ones(4, 3, requires_grad=True),)",
            proves=("GB0123",),
        ),
        Untouched(
            "\ndef f(x):\n    y = (x * x).sum()\n    (g,) = torch.autograd.grad(y, x)\n"
            "    return g * 2\n",
            reason="torch.func.grad",
            inputs="(torch.ones(4, 3, requires_grad=True),)",
            proves=("GB9186",),
        ),
        Good(
            "\ndef f(x):\n    return torch.func.grad(lambda t: (t * t).sum())(x) * 2\n",
            title="a function's gradient",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the call."""
        gb_id = _IDS.get(event.function)
        if gb_id is None:
            return None
        text = event.site.text(event.call.func)
        return Finding(
            f"`{text}` runs the backward pass in compiled code{consequence(event.site)}",
            Decline(_WAY_OUT.get(event.function, _OUTSIDE)),
            gb_ids=loop_ids(event.site, gb_id),
        )
