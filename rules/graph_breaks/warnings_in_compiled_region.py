"""TCL122: `warnings.warn` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import SideEffectCall

from ..lib.rewrite.output import describe, gb_ids, repair_output


class WarningsInCompiledRegion(Rule[SideEffectCall]):
    """Compiled code issues a warning."""

    code = "TCL122"
    name = "warnings-in-compiled-region"
    summary = "`warnings.warn` in compiled code breaks the graph"
    instead = (
        "Warn under `if not torch.compiler.is_compiling():`, or check and warn before the "
        "compiled call"
    )
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007",)

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report warnings."""
        if event.sink != "warnings":
            return None
        return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, "GB0007"))
