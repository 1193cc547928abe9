"""TCL122: `warnings.warn` in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import SideEffectCall

from ..output.repair import describe, gb_ids, repair_output


class WarningsInCompiledRegion(Rule[SideEffectCall]):
    """A warning is issued where Dynamo traces.

    ## What it does
    Reports `warnings.warn` in compiled code.

    ## Why it hurts
    Dynamo does not trace into the `warnings` module: it ends the graph before the call, whether
    the warning is shown or filtered. Inside a loop or a `try` the whole function falls back to
    eager. `torch._dynamo.config.reorderable_logging_functions` does not help here.

    ## Fix safety
    By default the call goes under `if not torch.compiler.is_compiling():`. Eager code does what it
    did, compiled code does not warn. Code that turns warnings into errors no longer sees this one
    in compiled code. An `if` that is there only for the call, and whose test asks a tensor, goes
    under the guard as a whole. The option `side-effects` can choose `trace-time` (warn once per
    compilation; unsafe unless all arguments are literals) or `remove` (unsafe) instead.

    ## References
    - [Graph break GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)
    """

    code = "TCL122"
    name = "warnings-in-compiled-region"
    summary = "`warnings.warn` in compiled code breaks the graph"
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007",)
    examples = (
        Bad(
            """
class f(nn.Module):
    def forward(self, x, mask=None):
        if mask is None:
            warnings.warn("no mask was given", UserWarning, stacklevel=2)
        return x * 2
""",
            fixed="""
class f(nn.Module):
    def forward(self, x, mask=None):
        if mask is None:
            if not torch.compiler.is_compiling():
                warnings.warn("no mask was given", UserWarning, stacklevel=2)
        return x * 2
""",
            proves=("GB0007",),
            title="an argument is missing",
        ),
        Untouched(
            """
def f(x, strict=True):
    y = x * 2
    strict and warnings.warn("strict")
    return y + 1
""",
            reason="the call is part of a larger expression",
            proves=("GB0007",),
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        warnings.warn("this model is old")

    def forward(self, x):
        return x * 2
""",
            title="in `__init__`",
        ),
    )

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report warnings."""
        if event.sink != "warnings":
            return None
        return Finding(describe(event), repair_output(event), gb_ids=gb_ids(event, "GB0007"))
