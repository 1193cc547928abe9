"""TCL160: Python branches on a tensor."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import TensorBranch

from ..decisions.draws import draws, is_number_of_library
from ..decisions.guesses import is_for_one_dtype, is_likely_number
from ..decisions.tests import decided_if, is_guard
from ..decisions.wording import at_most_medium, consequence, loop_ids, short
from ..proofs.conditions import is_compiled_aside
from ..repairs.branches import repair_branch

_ASKS = {
    "if": "an `if` asks",
    "ternary": "a conditional expression asks",
    "and": "`and` asks",
    "or": "`or` asks",
    "not": "`not` asks",
    "compare": "a chain of comparisons asks",
    "match": "a `case` asks",
}


class DataDependentBranch(Rule[TensorBranch]):
    """Python decides on the value of a tensor.

    ## What it does
    Reports `if`, conditional expressions, `and`, `or`, `not` and chained comparisons that ask for
    the truth of a tensor in compiled code. Random numbers (TCL161), `while` (TCL162), `any()` and
    the like (TCL163), `in` (TCL164) and checks that raise (TCL165) have codes of their own.

    ## Why it hurts
    The value lives on the device, and Dynamo does not know it while tracing. It ends the graph,
    the CPU waits for the GPU, and each way on is compiled by itself. In a loop or a `try`, and
    for `not` outside of a test, the whole function runs eagerly.

    ## Fix safety
    A branch that only chooses between two computations on one tensor becomes `torch.where`, which
    computes both: their shapes and dtypes have to be equal, and neither may raise. Safe for
    floating-point tensors and operations with finite gradients (`clamp`, `relu`, arithmetic with
    numbers); where the dtype is not known, compiled code asks for it and eager code stays as it
    is. Unsafe where the gradient of the way that is not taken may be NaN (0 comes back for it, and
    0 times an infinite factor is NaN: so is a factor that no literal gives). Unsafe, too, where
    one way keeps the tensor as it is and somebody else may hold it (the caller, a container, a
    view): `torch.where` makes a new one, and what is written into either stays there. Unsafe, too,
    where autograd now keeps the condition or the tensor (for `clamp`, not for `neg`) and somebody
    else may write into it before the backward pass, which then raises; where the function itself
    may do so, the branch stays. Where each way registers the same buffer anew, compiled code
    chooses the tensor, and asserts that shape and dtype agree. A test whether a mask selects
    anything goes (unsafe) where it only guards a number that is written by that mask.

    ## References
    - [Graph break GB0170](https://meta-pytorch.org/compile-graph-break-site/gb/gb0170.html)
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    """

    code = "TCL160"
    name = "data-dependent-branch"
    summary = "a branch on a tensor's value breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0033", "GB7000")
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    x = x.float() * 2
    if x.dtype == torch.float32 and not torch.isfinite(x).all():
        limit = torch.finfo(x.dtype).max - 1000
        x = torch.clamp(x, min=-limit, max=limit)
    return x + 1
""",
            fixed="""
def f(x: torch.Tensor):
    x = x.float() * 2
    if x.dtype == torch.float32:
        limit = torch.finfo(x.dtype).max - 1000
        x = torch.where(torch.isfinite(x).all(), x, torch.clamp(x, min=-limit, max=limit))
    return x + 1
""",
            inputs="[(torch.ones(4, 3),), (torch.full((2,), torch.inf),)]",
            proves=("GB0170", "host-sync"),
        ),
        Bad(
            """
def f(x: torch.Tensor):
    x = x.float()
    if (x > 2).any():
        x = torch.clamp(x, max=2)
    return x + 1
""",
            unsafe="""
def f(x: torch.Tensor):
    x = x.float()
    x = torch.where((x > 2).any(), torch.clamp(x, max=2), x)
    return x + 1
""",
            inputs="[(torch.ones(4, 3),), (torch.full((2,), 3.0),)]",
            proves=("GB0170", "host-sync"),
            title="autograd keeps the caller's tensor",
        ),
        Untouched(
            "\ndef f(x):\n    if x.isnan().any():\n        print('NaN')\n    return x * 2\n",
            reason="only for output",
            proves=("GB0170", "host-sync"),
            title="only to say something",
        ),
        Good(
            "\ndef f(x, mask=None):\n    if mask is None and x.shape[0] > 1 and x.ndim == 2:\n"
            "        return torch.where(x.sum() > 0, x * 2, x)\n    return x\n",
            title="sizes and absent arguments are known while tracing",
        ),
    )

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the operand that is asked."""
        site, test = event.site, event.test
        if event.kind not in _ASKS or draws(site, test) or is_number_of_library(site, test):
            return None
        if is_likely_number(site, test):
            return None
        decided = decided_if(site, event.node)
        if decided is not None and is_guard(decided):
            return None
        paths = " on some paths" if event.sometimes else ""
        negation = event.kind == "not"
        end = consequence(site, always=negation)
        message = f"{_ASKS[event.kind]} for the value of the tensor `{short(site, test)}`{paths}"
        return Finding(
            message[0].upper() + message[1:] + end,
            repair_branch(event, decided),
            gb_ids=loop_ids(site, "GB0033" if negation else "GB0170"),
            confidence=_confidence(event),
        )


def _confidence(event: TensorBranch) -> Confidence | None:
    site = event.site
    if is_for_one_dtype(site, event.node) or is_compiled_aside(site, site.statement):
        return Confidence.LOW
    outer = event.site.parent(event.node)
    behind = isinstance(outer, ast.BoolOp) and outer.values[0] is not event.node
    return at_most_medium(event) if event.sometimes or behind else None
