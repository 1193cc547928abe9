"""TCL196: compiled code sets an environment variable."""

from __future__ import annotations

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import EnvironmentWrite

from ..lib.wording import consequence, loop_ids, short

_WAY_OUT = "set it where the program starts, or in the code that calls compiled code"


class EnvironmentVariableSet(Rule[EnvironmentWrite]):
    """Compiled code sets or removes an environment variable."""

    code = "TCL196"
    name = "environment-variable-set"
    summary = "Setting an environment variable in compiled code breaks the graph"
    instead = (
        "Set the variable where the program starts, or in the code that calls the compiled function"
    )
    on = EnvironmentWrite
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007", "GB7000")

    def check(self, event: EnvironmentWrite) -> Finding:
        """Report the assignment."""
        site = event.site
        return Finding(
            f"`{short(site, event.target)}` is written to the environment{consequence(site)}",
            Advice(_WAY_OUT),
            gb_ids=loop_ids(site, "GB0007"),
        )
