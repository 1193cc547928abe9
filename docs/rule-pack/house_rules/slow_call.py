"""HOUSE101: a reference implementation is called in a compiled region."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.options import Option
from tclint.lint.rule import Bad, Finding, Good, Rule
from tclint.semantics.events import Call


class SlowCall(Rule[Call]):
    """A function that is meant for tests is called in compiled code.

    ## What it does
    Reports calls of the functions that the option `functions` names, wherever a compiled region
    reaches them, through other files of the project too.

    ## Why it hurts
    Reference implementations are written to be read. Compiled, each unrolls into hundreds of
    small operations.

    ## Fix safety
    There is no fix: which kernel belongs there is for the author to say.
    """

    code = "HOUSE101"
    name = "slow-call-in-compiled-region"
    summary = "A function meant for tests is called in compiled code"
    on = Call
    effects = (Effect.COLD_START,)
    options = (
        Option("functions", ("torch.cdist",), "The dotted names of the functions to report."),
    )
    examples = (
        Bad(
            """
def f(x):
    return torch.cdist(x, x)
"""
        ),
        Good(
            """
def f(x):
    return (x[:, None] - x[None]).norm(dim=-1)
"""
        ),
    )

    def check(self, event: Call) -> Finding | None:
        """Report the call by its dotted name, whatever it was imported as."""
        if event.function not in self.option(event, "functions"):
            return None
        return Finding(f"`{event.function}` is meant for tests, not for compiled code")
