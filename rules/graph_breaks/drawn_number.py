"""TCL143: a number that Python's `random` draws is needed by Python."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import DrawnNumberNeeded, NumberNeeded
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
    "method": ("GB6270",),
    "order": ("GB0207",),
    "power": ("GB0178",),
    "repeats": ("GB0036",),
    "scale": ("GB0112",),
}
_UNTIL: Final = {"power": (2, 14)}
_CAPTURED: Final = frozenset({"torch", "slice"})


class DrawnNumber(Rule[DrawnNumberNeeded]):
    """Python uses a random number as a size, a position or in arithmetic with other numbers."""

    code = "TCL143"
    name = "drawn-number-in-region"
    summary = "A number drawn by `random` is used as a size, a position or with other numbers"
    instead = (
        "Draw the number before the compiled call and pass it in, or draw a tensor with "
        "`torch.randint`"
    )
    on = DrawnNumberNeeded
    effects = (Effect.GRAPH_BREAK, Effect.INVALID)
    gb_ids = (
        "GB0033", "GB0036", "GB0088", "GB0112", "GB0124", "GB0178", "GB0207", "GB0213", "GB4841",
        "GB6270",
    )  # fmt: skip

    def check(self, event: DrawnNumberNeeded) -> Finding:
        """Report where Python first needs the number; there the graph breaks, and only there."""
        site, first = event.site, event.needs[0]
        if first.why == "hash":
            return _never_found(event, first)
        captured = first.why in _CAPTURED and site.has_setting(SCALARS)
        return Finding(
            f"The drawn number `{short(site, first.use)}` is read{consequence(site)}",
            Advice(_WAY_OUT),
            gb_ids=_IDS.get(first.why, ("GB0033",)),
            confidence=Confidence.LOW if captured else None,
            since=traced_since(event.function),
            before=_UNTIL.get(first.why),
        )


def _never_found(event: DrawnNumberNeeded, asked: NumberNeeded) -> Finding:
    """Dynamo hashes what stands for the number: no break, but another answer than in eager code."""
    return Finding(
        f"The drawn number `{short(event.site, asked.use)}` equals no member and no key",
        Advice(_WAY_OUT),
        effect=Effect.INVALID,
        gb_ids=(),
        since=traced_since(event.function),
    )
