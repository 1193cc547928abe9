"""TCL150: communication that Dynamo cannot trace."""

from __future__ import annotations

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call

from .facts import NAMES, collective, short_name


class CollectiveInRegion(Rule[Call]):
    """A call of `torch.distributed` that Dynamo cannot trace."""

    code = "TCL150"
    name = "collective-in-region"
    summary = "A `torch.distributed` call that Dynamo cannot trace breaks the graph"
    on = Call
    called = NAMES
    effects = (Effect.GRAPH_BREAK, Effect.INVALID)
    gb_ids = ("GB0007", "GB0088", "GB1750", "GB2696", "GB9300")

    def check(self, event: Call) -> Finding | None:
        """Look the function up among those that were measured."""
        found = collective(event.function)
        if found is None:
            return None
        name = short_name(event.function)
        if not found.gb_ids:
            message = f"Compiling `{name}` raises an internal error of Dynamo; {found.advice}"
        else:
            message = f"`{name}` breaks the graph; {found.advice}"
        return Finding(
            message,
            fix=Decline(f"no equivalent of `{name}` compiles; {found.advice}"),
            effect=None if found.gb_ids else Effect.INVALID,
            gb_ids=found.gb_ids,
        )
