"""TCL143: a number that Python's `random` draws is needed by Python."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import DrawnNumberNeeded
from tclint.torch_facts import traced_since
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.wording import consequence, short

_WAY_OUT: Final = (
    "draw the number before compiled code and pass it in, or draw a tensor with `torch.randint` "
    "and select with it"
)
_IDS: Final = {
    "arithmetic": ("GB0213",),
    "member": ("GB0213",),
    "slice": ("GB0124",),
    "key": ("GB0088",),
    "range": ("GB4841", "GB0088"),
    "text": ("GB0178", "GB0088"),
    "python": ("GB0178", "GB0124", "GB0033"),
}
_CAPTURED: Final = frozenset({"torch", "slice"})


class DrawnNumber(Rule[DrawnNumberNeeded]):
    """Python uses a random number as a size, a position or in arithmetic with other numbers."""

    code = "TCL143"
    name = "drawn-number-in-region"
    summary = "A number drawn by `random` is used as a size, a position or with other numbers"
    on = DrawnNumberNeeded
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0088", "GB0124", "GB0178", "GB0213", "GB4841")

    def check(self, event: DrawnNumberNeeded) -> Finding:
        """Report where Python first needs the number; there the graph breaks, and only there."""
        site, first = event.site, event.needs[0]
        captured = first.why in _CAPTURED and site.has_setting(SCALARS)
        return Finding(
            f"`{short(site, first.use)}` comes from `{event.function}`, a tensor to Dynamo; "
            f"Python needs a number here{consequence(site)}",
            Decline(_WAY_OUT),
            gb_ids=_IDS.get(first.why, ("GB0033",)),
            confidence=Confidence.LOW if captured else None,
            since=traced_since(event.function),
        )
