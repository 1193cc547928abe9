"""TCL164: `tensor in [...]`."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorBranch

from ..decisions.tests import is_asked
from ..decisions.wording import consequence, loop_ids, short

_WAY_OUT = (
    "`in` compares one after the other; `torch.isin(t, choices)` does it on the device, and for "
    "a tensor object itself `any(t is other for other in tensors)` compares no values"
)


class TensorMembership(Rule[TensorBranch]):
    """Python looks for a tensor in a list.

    ## What it does
    Reports `tensor in [...]` where the answer decides something, `tensor not in [...]`, and
    `index` and `remove` of lists of tensors, in compiled code. Sets and dicts compare identities of
    tensors, which is known while tracing.

    ## Why it hurts
    `in` compares the tensor with each member and asks each result for its truth, so the graph ends
    there. `not in` sends the whole function to eager. In a list of tensors of several elements it
    raises as soon as the first member is another tensor.

    ## Fix safety
    Not fixed: whether values or identities are meant is not to be seen.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    """

    code = "TCL164"
    name = "tensor-membership"
    summary = "looking for a tensor in a list breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0033", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    known = [x.sum(), y.sum()]\n"
            "    if y.sum() in known:\n        y = y + 1\n    return y\n",
            reason="torch.isin",
            proves=("GB0170",),
        ),
        Untouched(
            "\ndef f(x):\n    y = x * 2\n    known = [x.sum(), y.sum()]\n"
            "    known.remove(y.sum())\n    return known[0] + 1\n",
            reason="torch.isin",
            proves=("GB0170",),
            title="taken out of a list",
        ),
        Good(
            "\ndef f(x, mode=1):\n    y = x * 2\n    if mode in [1, 2] and x.shape[0] in (4, 5):\n"
            "        y = y + 1\n    return y\n",
            title="numbers",
        ),
    )

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
            f"`{short(site, node)}` compares tensors one after the other{end}",
            Decline(_WAY_OUT),
            gb_ids=loop_ids(site, "GB0170", *(("GB0033",) if negated else ())),
            # The tensor may be the first member, which is found without comparing values.
            confidence=Confidence.MEDIUM if called else None,
        )
