"""TCL111: `and`, `or` and comparison chains on tensors in an assert."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert

from ..lib.facts.conditions import goes_on_after_tensor
from ..lib.rewrite.tensor_assert import repair_assert
from ..lib.wording import consequence


class AssertBooleanOperator(Rule[TensorAssert]):
    """An assert combines conditions on tensors with Python's operators."""

    code = "TCL111"
    name = "assert-boolean-operator"
    summary = "`and`, `or` and chained comparisons of tensors in an assert break the graph"
    instead = (
        "Assert one tensor: combine the conditions with `&` and `|`, or write one assert for each"
    )
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the assert once, for the outermost operator."""
        site, test = event.site, event.statement.test
        if not goes_on_after_tensor(site, test):
            return None
        return Finding(
            f"Python's operators read a tensor before the assert does{consequence(site)}",
            repair_assert(site, event.statement),
            test,
        )
