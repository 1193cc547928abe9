"""TCL210: a Python loop runs over a dimension of a tensor."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Loop

_NO_FIX = Decline("tclint cannot tell which operation on the whole tensor replaces this loop")


class LoopOverShape(Rule[Loop]):
    """A `for` loop runs once for each row, column or element of a tensor."""

    code = "TCL210"
    name = "loop-over-shape"
    summary = "A loop over a tensor's dimension is unrolled and recompiles for each size"
    instead = (
        "Write the loop as one operation on the whole tensor (`x.sum(0)`, `cumsum`, `vmap`), or "
        "mark a size static that never changes"
    )
    on = Loop
    effects = (Effect.RECOMPILE,)

    def check(self, event: Loop) -> Finding | None:
        """Report loops whose length is a size."""
        if event.over not in ("shape", "tensor"):
            return None
        source = event.site.text(event.iterable)
        return Finding(
            f"The loop over `{source}` is unrolled: each new size recompiles",
            fix=_NO_FIX,
            confidence=Confidence.LOW,
        )
