"""TCL105: functions of the `math` module on tensors in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import HostRead

from ..proofs.reads import is_judged_elsewhere, repair_read
from ..proofs.twins import ERRORS, IN_TORCH, ROUNDING
from ..proofs.verdict import Changes


class MathOnTensor(Rule[HostRead]):
    """A function of Python's `math` is called with a tensor where Dynamo traces.

    ## What it does
    Reports `math.sqrt(t)`, `math.exp(t)` and all other functions of `math` on tensors.

    ## Why it hurts
    `math` works on Python floats, so the tensor's value is fetched first: the graph ends, also
    with `fullgraph=True` or `capture_scalar_outputs`, and the CPU waits for the GPU.

    ## Fix safety
    `torch` has most of these functions, but the rewriting is never safe: outside their domain they
    give `nan` or `inf` instead of an exception, and they round to the tensor's dtype. It is
    declined where a Python number is needed, and where the function has no twin (`math.floor`
    gives an int).

    ## References
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    """

    code = "TCL105"
    name = "math-on-tensor"
    summary = "`math` functions of a tensor break the graph and wait for the device"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033",)
    examples = (
        Bad(
            """
def f(x):
    return x / math.sqrt(x.sum())
""",
            unsafe="""
def f(x):
    return x / torch.sqrt(x.sum()).detach()
""",
            proves=("GB0033", "host-sync"),
        ),
        Untouched(
            """
def f(x):
    return x / math.floor(x.sum())
""",
            reason="no twin in torch",
            proves=("GB0033", "host-sync"),
            title="the result is an int",
        ),
        Untouched(
            """
def f(x):
    if math.sqrt(x.sum()) > 2:
        return x * 2
    return x
""",
            reason="decides a branch",
            proves=("GB0033", "host-sync"),
            title="the number decides a branch",
        ),
        Good(
            """
def f(x):
    return x / math.sqrt(x.shape[-1])
""",
            title="a size is no tensor",
        ),
    )

    def check(self, event: HostRead) -> Finding | None:
        """Report the call; capturing scalars does not help here."""
        if event.via != "math" or is_judged_elsewhere(event):
            return None
        assert isinstance(event.node, ast.Call)
        function = event.site.text(event.node.func)
        message = f"`{function}` of a tensor computes on the host"
        return Finding(message, _repair(event, event.node, function))


def _repair(event: HostRead, call: ast.Call, function: str) -> Repair | Decline:
    name = (event.site.dotted(call.func) or "").removeprefix("math.")
    spelled = event.site.spell(f"torch.{name}")
    if name not in IN_TORCH or len(call.args) != 1 or call.keywords:
        return Decline(f"`{function}` has no twin in torch")
    if spelled is None:
        return Decline("the file does not import torch")
    return repair_read(event, f"{spelled}($source)", extra=Changes(f"{ERRORS}; {ROUNDING}"))
