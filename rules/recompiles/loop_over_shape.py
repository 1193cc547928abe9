"""TCL210: a Python loop runs over a dimension of a tensor."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import Loop

_NO_FIX = Decline("only you can say which operation on the whole tensor this loop spells out")
_SIZES = "[(torch.rand(n, 3),) for n in (4, 5, 6)]"


class LoopOverShape(Rule[Loop]):
    """A `for` loop runs once for each row, column or element of a tensor.

    ## What it does
    Reports `for i in range(x.shape[0])`, `for row in x`, and `zip` or `enumerate` of tensors.

    ## Why it hurts
    Dynamo unrolls the loop: forty rows of `out = out + x[i] * 2` are 120 operations in the graph,
    and compile time grows with them. Its length becomes a constant of the graph, so that every new
    size compiles again; after eight the function runs eagerly. In eager mode every step launches
    its own kernels.

    ## Fix safety
    None is offered: write the loop as one operation on the whole tensor (`x.sum(0)`, `cumsum`,
    `torch.stack` of a `vmap`), or mark the dimension static where its size never changes. That is
    also why this finding is of low confidence: a loop over a dimension that never changes is
    compiled once.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL210"
    name = "loop-over-shape"
    summary = "a loop over a tensor's dimension is unrolled, and compiles per size"
    on = Loop
    effects = (Effect.RECOMPILE,)
    examples = (
        Untouched(
            """
def f(x):
    out = 0
    for i in range(x.shape[0]):
        out = out + x[i] * 2
    return out
""",
            reason="only you can say",
            inputs=_SIZES,
            proves=("recompile",),
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    out = 0
    for row in x:
        out = out + row * 2
    return out
""",
            reason="only you can say",
            inputs=_SIZES,
            proves=("recompile",),
            title="rows of a tensor",
        ),
        Good(
            """
def f(x):
    out = 0
    for i in range(3):
        out = out + x[i] * 2
    return out
""",
            title="a constant number of steps",
        ),
    )

    def check(self, event: Loop) -> Finding | None:
        """Report loops whose length is a size."""
        if event.over not in ("shape", "tensor"):
            return None
        source = event.site.text(event.iterable)
        return Finding(
            f"the loop over `{source}` is unrolled: each new size compiles again",
            fix=_NO_FIX,
            confidence=Confidence.LOW,
        )
