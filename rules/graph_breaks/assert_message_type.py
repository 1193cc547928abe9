"""TCL114: the message of an assert on a tensor is a constant, but no string."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert

from ..lib.facts.conditions import goes_on_after_tensor, is_tensor_condition
from ..lib.facts.messages import folded
from ..lib.rewrite.tensor_assert import repair_assert


class AssertMessageType(Rule[TensorAssert]):
    """The message of an assert on a tensor is a number, None or a tuple of constants."""

    code = "TCL114"
    name = "assert-message-type"
    summary = "A message that is not a string makes the compiled assert raise TypeError"
    instead = "Give the assert a string as its message"
    on = TensorAssert
    effects = (Effect.INVALID,)

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the message where the assert stays in the graph otherwise."""
        site, statement = event.site, event.statement
        if statement.msg is None or not is_tensor_condition(site, statement.test):
            return None
        constant = folded(statement.msg)
        if isinstance(constant, (str, ast.AST)) or goes_on_after_tensor(site, statement.test):
            return None
        text = site.text(statement.msg)
        message = f"`{text}` is not a string, so the compiled assert raises TypeError"
        return Finding(message, repair_assert(site, statement), statement.msg)
