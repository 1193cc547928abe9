"""HOUSE101: a reference implementation is called in a compiled region."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.options import Option
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call


class SlowCall(Rule[Call]):
    """A function that is meant for tests is called in compiled code."""

    code = "HOUSE101"
    name = "slow-call-in-compiled-region"
    summary = "A function meant for tests is called in compiled code"
    instead = "Call the fast implementation, and keep this one for tests"
    on = Call
    effects = (Effect.COLD_START,)
    options = (
        Option("functions", ("torch.cdist",), "The dotted names of the functions to report."),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the call by its dotted name, whatever it was imported as."""
        if event.function not in self.option(event, "functions"):
            return None
        return Finding(f"`{event.function}` is meant for tests, and compiled all the same")
