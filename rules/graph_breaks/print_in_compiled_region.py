"""TCL120: `print` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import SideEffectCall

from ..lib.rewrite.output import describe, gb_ids, repair_output


class PrintInCompiledRegion(Rule[SideEffectCall]):
    """Compiled code prints something."""

    code = "TCL120"
    name = "print-in-compiled-region"
    summary = "`print` in compiled code breaks the graph"
    instead = (
        "Print under `if not torch.compiler.is_compiling():`, or return the value and print it "
        "outside"
    )
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0059",)

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report prints and writes to the standard streams."""
        if event.sink not in {"print", "stdout"}:
            return None
        own = "GB0059" if event.sink == "print" else "GB0156"
        return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, own))
