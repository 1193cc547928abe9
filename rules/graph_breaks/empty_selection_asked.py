"""TCL171: captured code asks whether a mask selects anything."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import DynamicShape
from tclint.torch_facts.dynamo_settings import DYNAMIC_SHAPES

from ..lib.facts.selections import holders_of, tests_of
from ..lib.wording import consequence, loop_ids, short

_WAY_OUT: Final = (
    "compute with the rows even if there are none, and test for emptiness in eager code only"
)


class EmptySelectionAsked(Rule[DynamicShape]):
    """A test of whether a mask selects anything, where Dynamo captures the selection."""

    code = "TCL171"
    name = "empty-selection-asked"
    summary = "Testing whether a captured selection is empty breaks the graph"
    instead = (
        "Compute with the rows even if there are none, and test for emptiness in eager code only"
    )
    on = DynamicShape
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB7000")

    def check(self, event: DynamicShape) -> Finding | None:
        """Report the first test; without the capture the selection itself breaks the graph."""
        site = event.site
        if event.store or not site.has_setting(DYNAMIC_SHAPES):
            return None
        test = next(tests_of(site, holders_of(site, event.node)), None)
        if test is None:
            return None
        asked = test.statement.test
        return Finding(
            f"`{short(site, asked)}` asks how many elements are selected{consequence(site)}",
            Advice(_WAY_OUT),
            node=asked,
            gb_ids=loop_ids(site, "GB0170"),
        )
