"""TCL164: `tensor in [...]`."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch

from ..lib.facts.branch_tests import is_asked
from ..lib.wording import consequence, loop_ids, short

_WAY_OUT = (
    "`in` compares the members one by one; `torch.isin(t, choices)` compares on the device, and "
    "`any(t is other for other in tensors)` finds the tensor object itself without comparing "
    "values"
)


class TensorMembership(Rule[TensorBranch]):
    """Python searches a list for a tensor."""

    code = "TCL164"
    name = "tensor-membership"
    summary = "Searching a list for a tensor breaks the graph"
    instead = "Compare on the device: `torch.isin(t, values)`, or `(torch.stack(ts) == t).any()`"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0033", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the comparison where its answer is needed."""
        site, node = event.site, event.node
        if event.kind != "in" or not isinstance(node, (ast.Compare, ast.Call)):
            return None
        called = isinstance(node, ast.Call)
        operators = node.ops if isinstance(node, ast.Compare) else []
        negated = any(isinstance(op, ast.NotIn) for op in operators)
        if not (negated or called or is_asked(site, node)):
            return None
        end = consequence(site, always=negated)
        return Finding(
            f"`{short(site, node)}` compares tensors one by one{end}",
            Advice(_WAY_OUT),
            gb_ids=loop_ids(site, "GB0170", *(("GB0033",) if negated else ())),
            # The tensor may be the first member, which is found without comparing values.
            confidence=Confidence.MEDIUM if called else None,
        )
