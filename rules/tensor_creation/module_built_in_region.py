"""TCL130: a layer with parameters is made where Dynamo traces."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Change, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ModuleConstruction
from tclint.semantics.lattice import options
from tclint.semantics.values import Sequence, Static, SymInt

from ..lib.wording import consequence

_FUNCTIONS = {
    "torch.nn.LayerNorm": "torch.nn.functional.layer_norm",
    "torch.nn.RMSNorm": "torch.nn.functional.rms_norm",
}
_CHANGES = (
    "the result requires gradients only where its input does; "
    "inputs that are not float32 or not on the CPU work instead of raising"
)
_ANEW = "every call creates the layer again, with new parameters; create it in `__init__`"


class ModuleBuiltInRegion(Rule[ModuleConstruction]):
    """Traced code creates a layer that has parameters."""

    code = "TCL130"
    name = "module-built-in-region"
    summary = "Creating a layer with parameters in compiled code breaks the graph"
    instead = (
        "Create the layer once, in `__init__`, or call its function (`F.layer_norm`, `F.linear`)"
    )
    on = ModuleConstruction
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0264",)

    def check(self, event: ModuleConstruction) -> Finding | None:
        """Report layers that surely have parameters."""
        if not event.has_parameters or event.function.endswith("Parameter") or _plain(event.call):
            return None
        message = (
            f"Each call creates `{event.site.text(event.call.func)}` anew{consequence(event.site)}"
        )
        return Finding(message, _repair(event))


def _plain(call: ast.Call) -> bool:
    """True for a normalization layer without weights."""
    return any(
        k.arg in ("affine", "elementwise_affine") and not getattr(k.value, "value", True)
        for k in call.keywords
    )


def _repair(event: ModuleConstruction) -> Repair | Decline:
    site, call = event.site, event.call
    outer = site.parent(call)
    function = _FUNCTIONS.get(event.function)
    spelled = site.spell(function) if function else None
    if spelled is None or not isinstance(outer, ast.Call) or outer.func is not call:
        return Advice(_ANEW)
    others = [k for k in call.keywords if k.arg != "eps"]
    if others or outer.keywords or len(call.args) != 1 or len(outer.args) != 1:
        return Advice(_ANEW)
    if any(isinstance(node, ast.Starred) for node in (*call.args, *outer.args)):
        return Decline("the call uses `*args`/`**kwargs`")
    kinds = list(options(site.value(call.args[0])))
    sizes = "$size" if all(isinstance(k, Sequence) for k in kinds) else "($size,)"
    if sizes != "$size" and not all(
        isinstance(k, SymInt) or (isinstance(k, Static) and k.type == "int") for k in kinds
    ):
        return Advice(_ANEW)
    parts = {"size": call.args[0], "input": outer.args[0]}
    eps = ""
    for keyword in call.keywords:
        parts["eps"] = keyword.value
        eps = ", eps=$eps"
    rewrite = Replace(outer, f"{spelled}($input, {sizes}{eps})", parts)
    return Repair("Call the function", (rewrite,), Change.BEHAVIOUR, _CHANGES)
