"""TCL188: `requires_grad_()` is called in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.lattice import tensor_in
from tclint.semantics.values import FALSE, Static, Tensor

from ..decisions.origins import is_made_here
from ..decisions.wording import consequence, loop_ids, short
from ..repairs.eager_gradients import WAY_OUT, switch_in_eager


class RequiresGradCalled(Rule[Call]):
    """`requires_grad_()` is called in compiled code.

    ## What it does
    Reports `requires_grad_()` in compiled code on inputs, parameters and layers, and on results
    where it switches gradients on. Switching them off for a result is traced.

    ## Why it hurts
    For a tensor that comes from outside, Dynamo ends the graph at the call. For a result, it does
    so when the tensor, or what is computed from it, leaves the graph.

    ## Fix safety
    As for an assignment (TCL183). Where the call's value is used, it has to move out.

    ## References
    - [Graph break GB0125](https://meta-pytorch.org/compile-graph-break-site/gb/gb0125.html)
    - [Graph break GB8985](https://meta-pytorch.org/compile-graph-break-site/gb/gb8985.html)
    """

    code = "TCL188"
    name = "requires-grad-called"
    summary = "`requires_grad_()` in compiled code breaks the graph"
    on = Call
    called = ("requires_grad_",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0125", "GB8985", "GB7000")
    examples = (
        Bad(
            "\ndef f(x, w):\n    y = x.detach()\n    y.requires_grad_(True)\n    return y * w\n",
            "(torch.ones(3), torch.ones(3, requires_grad=True))",
            unsafe="\ndef f(x, w):\n    y = x.detach()\n"
            "    if not torch.compiler.is_compiling():\n        y.requires_grad_(True)\n"
            "    return y * w\n",
            proves=("GB8985",),
            title="a passing tensor",
        ),
        Untouched(
            "\ndef f(x):\n    x.requires_grad_(True)\n    return x * 2\n",
            reason="before compiled code",
            proves=("GB0125",),
        ),
        Untouched(
            "\ndef f(x):\n    y = x.detach().requires_grad_()\n    return (y * y).sum()\n",
            reason="torch.func.grad",
            proves=("GB8985",),
            title="a result",
        ),
        Untouched(
            "\nclass f(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.layer = nn.Linear(3, 3)\n\n    def forward(self, x):\n"
            "        self.layer.requires_grad_(False)\n        return self.layer(x)\n",
            reason="before compiled code",
            proves=("GB0125",),
            title="a layer",
        ),
        Good("\ndef f(x):\n    return (x * 1).detach().requires_grad_(False) * 2\n"),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the call on what comes from outside, or where it switches gradients on."""
        if event.owner is None:
            return None
        func = event.call.func
        assert isinstance(func, ast.Attribute)
        tensor = tensor_in(event.owner)
        made = tensor is not None and is_made_here(event.site, func.value, tensor)
        if made and _switches_off(event):
            return None
        return Finding(
            f"`{short(event.site, event.call)}` in compiled code{consequence(event.site)}",
            _repair(event, func.value, tensor),
            gb_ids=loop_ids(event.site, "GB8985" if made else "GB0125"),
            confidence=Confidence.MEDIUM if made else None,
        )


def _repair(event: Call, owner: ast.expr, tensor: Tensor | None) -> Repair | Decline:
    if tensor is None or not isinstance(event.site.parent(event.call), ast.Expr):
        return Decline(WAY_OUT)
    return switch_in_eager(event.site, owner, tensor)


def _switches_off(event: Call) -> bool:
    """True where it is off in the end, or unless somebody asks for it."""
    given = [*event.call.args, *(keyword.value for keyword in event.call.keywords)]
    values = [event.site.value(value) for value in given]
    return any(isinstance(v, Static) and (v == FALSE or v.default_off) for v in values)
