"""TCL101: `.item()` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.judge.captured import settings_for
from ..lib.rewrite.first_item import first_item
from ..lib.rewrite.host_read import is_captured, repair_read
from ..lib.rewrite.tensor_operator import tensor_operator


class ItemInCompiledRegion(Rule[HostRead]):
    """Compiled code reads a tensor's value with `.item()`."""

    code = "TCL101"
    name = "item-in-compiled-region"
    summary = "`.item()` in compiled code breaks the graph and waits for the device"
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124",)
    settings = (SCALARS,)

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless it is traced or an outer rule judges the statement."""
        if event.via != "item" or is_captured(event):
            return None
        message = f"`{event.site.text(event.node)}` reads a tensor on the host"
        goes_with = settings_for(event)
        return Finding(
            message,
            repair_read(event),
            cedes_to=event.site.facts.output,
            goes_with=goes_with,
            hatch=tensor_operator(event.site) or (None if goes_with else first_item(event)),
        )
