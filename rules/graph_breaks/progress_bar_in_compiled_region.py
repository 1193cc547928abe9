"""TCL123: a progress bar in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import SideEffectCall

from ..lib.rewrite.output import describe, gb_ids, repair_output


class ProgressBarInCompiledRegion(Rule[SideEffectCall]):
    """Compiled code shows a progress bar."""

    code = "TCL123"
    name = "progress-bar-in-compiled-region"
    summary = "A progress bar in compiled code breaks the graph"
    instead = (
        "Put the bar around the loop that calls compiled code, and loop over the plain iterable "
        "inside"
    )
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007", "GB0008")

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report progress bars, and what is done with them."""
        if event.sink == "bar":
            return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, "GB0008"))
        if event.sink != "tqdm":
            return None
        return Finding(describe(event), gb_ids=gb_ids(event, "GB0007"))
