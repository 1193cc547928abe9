"""TCL112: a tensor's value is fetched for an assert."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert

from ..lib.facts.conditions import HOST_FUNCTIONS, host_reads
from ..lib.rewrite.tensor_assert import repair_assert


class AssertHostRead(Rule[TensorAssert]):
    """An assert reads its condition back to the host before testing it."""

    code = "TCL112"
    name = "assert-host-read"
    summary = "`.item()`, `bool()` or `torch.allclose` in an assert breaks the graph"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124", "GB0033")

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the statement once, at its first read."""
        site, region = event.site, event.site.region
        captured = region is not None and region.capture_scalars
        for call in host_reads(site, event.statement.test):
            function = site.dotted(call.func) in HOST_FUNCTIONS
            if captured and not function:
                continue
            message = f"`{site.text(call)}` reads a tensor on the host"
            ids = ("GB0033",) if function else ("GB0124",)
            return Finding(message, repair_assert(site, event.statement), call, gb_ids=ids)
        return None
