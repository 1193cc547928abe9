"""TCL193: compiled code sets an attribute of a function."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import FunctionWrite

from ..lib.wording import consequence, loop_ids, short

_WAY_OUT = "keep it in an object or a dict, whose changes Dynamo follows, or set it in eager code"


class FunctionAttributeAssigned(Rule[FunctionWrite]):
    """Compiled code sets an attribute of a function."""

    code = "TCL193"
    name = "function-attribute-assigned"
    summary = "Setting an attribute of a function in compiled code breaks the graph"
    instead = (
        "Keep the value in a module's attribute or in a dict, or count where the function is called"
    )
    on = FunctionWrite
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0467", "GB7000")

    def check(self, event: FunctionWrite) -> Finding | None:
        """Report the assignment."""
        site, node = event.site, event.node
        assert isinstance(node, ast.expr)
        return Finding(
            f"`{short(site, node)}` sets an attribute of a function{consequence(site)}",
            Advice(_WAY_OUT),
            gb_ids=loop_ids(site, "GB0467"),
        )
