"""TCL105: functions of the `math` module on tensors in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead

from ..lib.judge.verdict import Changes
from ..lib.rewrite.host_read import repair_read
from ..lib.rewrite.proved import NO_TORCH
from ..lib.rewrite.torch_equivalents import ERRORS, IN_TORCH, ROUNDING
from ..lib.wording import consequence


class MathOnTensor(Rule[HostRead]):
    """Compiled code calls a function of Python's `math` with a tensor."""

    code = "TCL105"
    name = "math-on-tensor"
    summary = "`math` functions on a tensor break the graph and wait for the device"
    instead = (
        "Use torch's function of the same name on the tensor, or compute the number before the "
        "compiled call"
    )
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033",)

    def check(self, event: HostRead) -> Finding | None:
        """Report the call; capturing scalars does not help here."""
        if event.via != "math":
            return None
        assert isinstance(event.node, ast.Call)
        function = event.site.text(event.node.func)
        message = f"`{function}` reads a tensor on the host{consequence(event.site)}"
        fix = _repair(event, event.node, function)
        return Finding(message, fix, cedes_to=event.site.facts.output)


def _repair(event: HostRead, call: ast.Call, function: str) -> Repair | Decline:
    name = (event.site.dotted(call.func) or "").removeprefix("math.")
    spelled = event.site.spell(f"torch.{name}")
    if name not in IN_TORCH or len(call.args) != 1 or call.keywords:
        return Decline(f"torch has no equivalent of `{function}`")
    if spelled is None:
        return NO_TORCH
    return repair_read(event, f"{spelled}($source)", extra=Changes(f"{ERRORS}; {ROUNDING}"))
