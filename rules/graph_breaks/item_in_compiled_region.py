"""TCL101: `.item()` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead

from ..lib.rewrite.host_read import is_captured, is_judged_elsewhere, repair_read


class ItemInCompiledRegion(Rule[HostRead]):
    """Compiled code reads a tensor's value with `.item()`."""

    code = "TCL101"
    name = "item-in-compiled-region"
    summary = "`.item()` in compiled code breaks the graph and waits for the device"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124",)

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless it is traced or an outer rule judges the statement."""
        if event.via != "item" or is_captured(event) or is_judged_elsewhere(event):
            return None
        text = event.site.text(event.node)
        return Finding(f"`{text}` reads a tensor on the host", repair_read(event))
