"""TCL131: a parameter is made where Dynamo traces."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ModuleConstruction
from tclint.semantics.lattice import tensor_in
from tclint.semantics.syntax import nodes

from ..proofs.declared import stores
from ..proofs.inputs import is_input

_WHY_NOT = (
    "a parameter made here is another one on every call, and no optimizer knows it; "
    "make it in `__init__`, or use a plain tensor if nothing is learned"
)


class ParameterBuiltInRegion(Rule[ModuleConstruction]):
    """An `nn.Parameter` is made where Dynamo traces.

    ## What it does
    Reports `nn.Parameter(...)` in compiled code, also where it is made on the first call only
    (`if self.w is None: self.w = nn.Parameter(...)`). One made of an input, or of what a module
    has already, is traced.

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
        Good("\ndef f(x):\n    return nn.Parameter(x) * 2\n", title="of an input"),
        Good(
            """
class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("scale", torch.ones(3))

    def forward(self, x):
        return x * nn.Parameter(self.scale)
""",
            title="of a buffer",
        ),
    )

    def check(self, event: ModuleConstruction) -> Finding | None:
        """Report the constructor of a parameter."""
        if not event.function.endswith("Parameter"):
            return None
        if event.function == "torch.nn.Parameter" and _is_at_hand(event):
            return None
        return Finding("`nn.Parameter` is made in compiled code", Decline(_WHY_NOT))


def _is_at_hand(event: ModuleConstruction) -> bool:
    """True for an input, and for what an input that is no tensor (``self``) has already."""
    site, data = event.site, event.call.args[0] if event.call.args else None
    if isinstance(data, ast.Attribute):
        stored = any(stores(node, data.attr) for node in nodes(site.body.scope))
        owned = tensor_in(site.value(data.value)) is None
        return is_input(site, data.value) and owned and not stored
    return is_input(site, data)
