"""TCL113: the message of an assert on a tensor is not a literal."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert

from ..lib.facts.conditions import is_tensor_condition
from ..lib.facts.messages import folded
from ..lib.rewrite.tensor_assert import repair_assert


class AssertMessageNotLiteral(Rule[TensorAssert]):
    """An assert on a tensor has a computed message."""

    code = "TCL113"
    name = "assert-message-not-literal"
    summary = "A computed message makes an assert on a tensor break the graph"
    instead = "Give the assert a literal message, and report the values in eager code"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the message when the condition is a tensor's."""
        site, statement = event.site, event.statement
        if statement.msg is None or not isinstance(folded(statement.msg), ast.AST):
            return None
        if not is_tensor_condition(site, statement.test):
            return None
        text = site.text(statement.msg)
        message = f"`{text}` is computed, so the assert cannot stay in the graph"
        return Finding(message, repair_assert(site, statement), statement.msg)
