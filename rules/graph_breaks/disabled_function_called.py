"""TCL187: compiled code calls a function that is kept out of it."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import Call
from tclint.semantics.lattice import options
from tclint.semantics.values import Function

from ..decisions.wording import consequence, loop_ids, short

_DISABLING: Final = {
    "torch.compiler.disable": "GB0098",
    "torch._dynamo.disable": "GB0098",
    "torch._disable_dynamo": "GB0007",
}
_WAY_OUT = (
    "the decorator asks for this; without it Dynamo traces the function, and "
    "`torch.library.custom_op` makes it one operator of the graph"
)


class DisabledFunctionCalled(Rule[Call]):
    """A function under `torch.compiler.disable` is called in compiled code.

    ## What it does
    Reports, with low confidence since somebody wanted it so, calls in compiled code of functions
    decorated with `torch.compiler.disable`.

    ## Why it hurts
    The decorator does not take the call out of the graph, it takes the graph apart: one ends
    before the call and another begins behind it. In a loop the whole function runs eagerly.

    ## Fix safety
    Not fixed: the decorator is there for a reason.

    ## References
    - [Graph break GB0098](https://meta-pytorch.org/compile-graph-break-site/gb/gb0098.html)
    """

    code = "TCL187"
    name = "disabled-function-called"
    summary = "calling a function under `torch.compiler.disable` breaks the graph"
    on = Call
    called = ("disable",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0098", "GB0007", "GB7000")
    examples = (
        Untouched(
            """
@torch.compiler.disable
def record(x):
    return x + 1


def f(x):
    y = x * 2
    return record(y) * 3
""",
            reason="custom_op",
            proves=("GB0098",),
        ),
        Good(
            """
@torch.jit.unused
def record(x):
    return x + 1


def f(x):
    y = x * 2
    return record(y) * 3
""",
            title="a decorator of another compiler",
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the call, unless only TorchScript is kept out."""
        if event.function != "torch.compiler.disable":
            return None
        node = event.node  # a property is called without a call
        callee = node.func if isinstance(node, ast.Call) else node
        assert isinstance(callee, ast.expr)
        kinds = options(event.site.value(callee))
        called = [kind.info for kind in kinds if isinstance(kind, Function)]
        if not called:
            return None
        names = [name for info in called for name in info.decorators]
        # A decorator of the program that is built on one of torch's is not among them.
        gb_id = next((_DISABLING[name] for name in names if name in _DISABLING), "GB0098")
        text = short(event.site, callee)
        return Finding(
            f"`{text}` is kept out of compiled code by its decorator{consequence(event.site)}",
            Decline(_WAY_OUT),
            gb_ids=loop_ids(event.site, gb_id),
            confidence=Confidence.LOW,
        )
