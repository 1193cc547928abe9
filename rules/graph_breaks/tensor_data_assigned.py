"""TCL184: `tensor.data` is assigned in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorWrite

from ..lib.facts.origins import is_made_here
from ..lib.wording import consequence, loop_ids, short

_WAY_OUT = "use `t.copy_(new)` to write in place, or `t = new` if nothing else refers to `t`"
_PART = "`t.{}.copy_(new)` writes in place"
_IDS = {"data": "GB0056", "real": "GB0058", "imag": "GB0058"}


class TensorDataAssigned(Rule[TensorWrite]):
    """Compiled code replaces the storage of a result."""

    code = "TCL184"
    name = "tensor-data-assigned"
    summary = "Assigning `.data` of a result breaks the graph"
    instead = "Write in place with `t.copy_(value)`, or give the new tensor a name of its own"
    on = TensorWrite
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0056", "GB0058", "GB7000")

    def check(self, event: TensorWrite) -> Finding | None:
        """Report assignments to what this function computed."""
        site, owner = event.site, event.owner
        gb_id = _IDS.get(event.attribute)
        if gb_id is None or not is_made_here(site, owner, event.tensor):
            return None
        written = f"{short(site, owner)}.{event.attribute}"
        return Finding(
            f"`{written}` is assigned in compiled code{consequence(site)}",
            Advice(_WAY_OUT if event.attribute == "data" else _PART.format(event.attribute)),
            gb_ids=loop_ids(site, gb_id),
        )
