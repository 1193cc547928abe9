"""TCL141: a loop over `np.arange` that could run over `range`."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Loop

from ..lib.rewrite.range_loop import counted, use_range


class NumpyLoop(Rule[Loop]):
    """A loop over `np.arange` uses its variable only in arithmetic."""

    code = "TCL141"
    name = "numpy-loop"
    summary = "A loop over `np.arange` traces array operations that `range` does not need"
    instead = "Loop over `range`, or over a list or tuple of Python numbers"
    on = Loop
    effects = (Effect.COLD_START,)

    def check(self, event: Loop) -> Finding | None:
        """Report counting loops of numpy that stay in the graph."""
        if event.over != "numpy" or event.breaking_uses:
            return None
        if counted(event.site, event) is None:
            return None
        return Finding(
            f"`{event.site.text(event.target)}` comes from `np.arange`: every step traces array "
            "operations",
            fix=use_range(event),
            confidence=Confidence.MEDIUM,
        )
