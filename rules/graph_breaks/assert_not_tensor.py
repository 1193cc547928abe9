"""TCL110: `assert not tensor` in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorAssert
from tclint.semantics.lattice import tensor_in

from ..lib.facts.conditions import goes_on_after_tensor, tail
from ..lib.rewrite.tensor_assert import repair_assert
from ..lib.wording import consequence


class AssertNotTensor(Rule[TensorAssert]):
    """An assert negates a tensor with `not`."""

    code = "TCL110"
    name = "assert-not-tensor"
    summary = "`assert not tensor` breaks the graph; `torch.logical_not` does not"
    instead = "Assert a tensor: `torch.logical_not(t)`, or the opposite comparison"
    on = TensorAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170",)

    def check(self, event: TensorAssert) -> Finding | None:
        """Report the negation when it is tested last; before that, splitting comes first."""
        site, test = event.site, event.statement.test
        negation = tail(test)
        if not isinstance(negation, ast.UnaryOp) or not isinstance(negation.op, ast.Not):
            return None
        if tensor_in(site.value(negation.operand)) is None or goes_on_after_tensor(site, test):
            return None
        text, repair = site.text(negation.operand), repair_assert(site, event.statement)
        return Finding(
            f"`not {text}` calls `bool()` on a tensor{consequence(site)}", repair, negation
        )
