"""TCL131: a parameter is made where Dynamo traces."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ModuleConstruction
from tclint.semantics.lattice import tensor_in
from tclint.semantics.syntax import nodes

from ..lib.facts.origins import is_input
from ..lib.judge.declared import stores
from ..lib.wording import consequence

_WHY_NOT = (
    "every call creates a new parameter that no optimizer knows; create it in `__init__`, or use "
    "a plain tensor if nothing is learned"
)


class ParameterBuiltInRegion(Rule[ModuleConstruction]):
    """Traced code creates an `nn.Parameter`."""

    code = "TCL131"
    name = "parameter-built-in-region"
    summary = "Creating a parameter in compiled code breaks the graph"
    instead = (
        "Create the parameter in `__init__`; a value that is not learned is a buffer or a plain "
        "tensor"
    )
    on = ModuleConstruction
    effects = (Effect.GRAPH_BREAK, Effect.RECOMPILE)
    gb_ids = ("GB0264",)

    def check(self, event: ModuleConstruction) -> Finding | None:
        """Report the constructor of a parameter."""
        if not event.function.endswith("Parameter"):
            return None
        if event.function == "torch.nn.Parameter" and _is_at_hand(event):
            return None
        return Finding(f"Each call creates a parameter{consequence(event.site)}", Advice(_WHY_NOT))


def _is_at_hand(event: ModuleConstruction) -> bool:
    """True for an input, and for what an input that is no tensor (``self``) has already."""
    site, data = event.site, event.call.args[0] if event.call.args else None
    if isinstance(data, ast.Attribute):
        stored = any(stores(node, data.attr) for node in nodes(site.body.scope))
        owned = tensor_in(site.value(data.value)) is None
        return is_input(site, data.value) and owned and not stored
    return is_input(site, data)
