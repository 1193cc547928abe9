"""TCL131: a parameter is made where Dynamo traces."""

from __future__ import annotations

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ModuleConstruction

_WHY_NOT = (
    "a parameter made here is another one on every call, and no optimizer knows it; "
    "make it in `__init__`, or use a plain tensor if nothing is learned"
)


class ParameterBuiltInRegion(Rule[ModuleConstruction]):
    """An `nn.Parameter` is made where Dynamo traces.

    ## What it does
    Reports `nn.Parameter(...)` in compiled code, also where it is made on the first call only
    (`if self.w is None: self.w = nn.Parameter(...)`).

    ## Why it hurts
    Dynamo cannot trace the constructor, so the graph breaks; a parameter that is made on the first
    call costs a recompile on the second as well. A parameter made in each step learns nothing.

    ## Fix safety
    There is no fix: whether the value is meant to be learned is not to be seen from the code.

    ## References
    - [Graph break GB0264](https://meta-pytorch.org/compile-graph-break-site/gb/gb0264.html)
    """

    code = "TCL131"
    name = "parameter-built-in-region"
    summary = "Parameters made in compiled code break the graph"
    on = ModuleConstruction
    effects = (Effect.GRAPH_BREAK, Effect.RECOMPILE)
    gb_ids = ("GB0264",)
    examples = (
        Untouched(
            """
def f(x):
    scale = nn.Parameter(torch.ones(3))
    return x * scale
""",
            reason="another one on every call",
            proves=("GB0264",),
        ),
        Untouched(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = None

    def forward(self, x):
        if self.scale is None:
            self.scale = nn.Parameter(torch.ones(x.shape[-1]))
        return x * self.scale
""",
            reason="make it in `__init__`",
            proves=("GB0264",),
            title="made on the first call",
        ),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x * self.scale
""",
        ),
    )

    def check(self, event: ModuleConstruction) -> Finding | None:
        """Report the constructor of a parameter."""
        if not event.function.endswith("Parameter"):
            return None
        return Finding("`nn.Parameter` is made in compiled code", Decline(_WHY_NOT))
