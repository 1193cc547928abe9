"""TCL195: a module is converted to another dtype or device where Dynamo traces."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.site import Site
from tclint.semantics.values import Object
from tclint.torch_facts import layer_tensor

from ..lib.wording import at_most_medium, consequence, loop_ids, short

_DTYPES: Final = {
    "half": "torch.float16",
    "bfloat16": "torch.bfloat16",
    "double": "torch.float64",
    "float": "torch.float32",
}
_USUAL: Final = ("torch.float32", "torch.float")
"""What a layer has unless somebody asks for another."""
_ONLY_CHANGES: Final = (2, 12)
"""From this release on Dynamo traces a conversion that changes nothing."""
_WHY_NOT: Final = (
    "convert it once, before the model is compiled; here it is converted in every call"
)


class ModuleConverted(Rule[Call]):
    """Compiled code converts a module to another dtype or device."""

    code = "TCL195"
    name = "module-converted"
    summary = "Converting a module in compiled code breaks the graph"
    instead = "Convert the module once, before the model is compiled"
    on = Call
    called = ("to", "cuda", "cpu", "type", *_DTYPES)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0264", "GB7000")

    def check(self, event: Call) -> Finding | None:
        """Report the conversion of a module that has parameters."""
        site, owner = event.site, event.owner
        if not isinstance(owner, Object) or not owner.is_module or not _has_parameters(owner):
            return None
        changes = _changes_dtype(site, event.call, owner)
        return Finding(
            f"`{short(site, event.call)}` makes new parameters in compiled code{consequence(site)}",
            Advice(_WHY_NOT),
            gb_ids=loop_ids(site, "GB0264"),
            confidence=at_most_medium(event),
            before=None if changes else _ONLY_CHANGES,
        )


def _has_parameters(module: Object) -> bool:
    return module.cls is not None or layer_tensor(module.name, "weight") is not None


def _changes_dtype(site: Site, call: ast.Call, module: Object) -> bool:
    """Whether the call names a dtype that the module does not have yet."""
    made = module.site
    if isinstance(made, ast.Call) and any(given.arg == "dtype" for given in made.keywords):
        return False
    assert isinstance(call.func, ast.Attribute)
    if call.func.attr in _DTYPES:
        return _DTYPES[call.func.attr] not in _USUAL
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    named = {site.dotted(one) or "" for one in given}
    return any(_is_dtype(name) and name not in _USUAL for name in named)


def _is_dtype(name: str) -> bool:
    return name in ("torch.half", "torch.double") or name.startswith(
        ("torch.float", "torch.bfloat")
    )
