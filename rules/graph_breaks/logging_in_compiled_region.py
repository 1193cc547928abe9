"""TCL121: logging in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import SideEffectCall

from ..lib.rewrite.output import describe, gb_ids, repair_output
from ..lib.wording import renumbered


class LoggingInCompiledRegion(Rule[SideEffectCall]):
    """Compiled code logs something."""

    code = "TCL121"
    name = "logging-in-compiled-region"
    summary = "A logger call in compiled code breaks the graph, even when its level is off"
    instead = (
        "Log under `if not torch.compiler.is_compiling():`, or return the value and log it outside"
    )
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0291", "GB4841")

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report loggers' methods and the functions of ``logging``."""
        if event.sink not in {"logger", "logging"}:
            return None
        of_module = renumbered(event.site, "GB0156", (2, 12), "GB4841")
        own = "GB0291" if event.sink == "logger" else of_module
        return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, own))
