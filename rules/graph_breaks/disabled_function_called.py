"""TCL187: compiled code calls a function that is kept out of it."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.lattice import options
from tclint.semantics.values import Function

from ..lib.wording import consequence, loop_ids, short

_DISABLING: Final = {
    "torch.compiler.disable": "GB0098",
    "torch._dynamo.disable": "GB0098",
    "torch._disable_dynamo": "GB0007",
}
_WAY_OUT = (
    "the decorator asks for this; remove it to let Dynamo trace the function, or make the "
    "function one operator of the graph with `torch.library.custom_op`"
)


class DisabledFunctionCalled(Rule[Call]):
    """Compiled code calls a function under `torch.compiler.disable`."""

    code = "TCL187"
    name = "disabled-function-called"
    summary = "Calling a function under `torch.compiler.disable` breaks the graph"
    instead = (
        "Call it before or after the compiled code, or remove the decorator if today's torch "
        "traces the function"
    )
    on = Call
    called = ("disable",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0098", "GB0007", "GB7000")

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
            f"`{text}` is excluded from compilation by its decorator{consequence(event.site)}",
            Advice(_WAY_OUT),
            gb_ids=loop_ids(event.site, gb_id),
            confidence=Confidence.LOW,
        )
