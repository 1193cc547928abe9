"""TCL101: `.item()` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import HostRead
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.judge.captured import settings_for
from ..lib.rewrite.host_read import is_captured, repair_read
from ..lib.wording import NUMBER_INSTEAD, consequence, short


class ItemInCompiledRegion(Rule[HostRead]):
    """Compiled code reads a tensor's value with `.item()`."""

    code = "TCL101"
    name = "item-in-compiled-region"
    summary = "`.item()` in compiled code breaks the graph and waits for the device"
    instead = NUMBER_INSTEAD.format("the 0-d tensor itself")
    on = HostRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0124",)
    settings = (SCALARS,)

    def check(self, event: HostRead) -> Finding | None:
        """Report the call unless it is traced or an outer rule judges the statement."""
        if event.via != "item" or is_captured(event):
            return None
        message = (
            f"`{event.site.text(event.node)}` reads a tensor on the host{consequence(event.site)}"
        )
        settings = settings_for(event)
        return Finding(
            message,
            repair_read(event),
            cedes_to=event.site.facts.output,
            removed_by_settings=settings,
            instead=NUMBER_INSTEAD.format(f"the tensor `{short(event.site, event.source)}`"),
        )
