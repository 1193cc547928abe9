"""TCL192: a tensor is made with `requires_grad=True` in compiled code."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorFactory
from tclint.semantics.lattice import options
from tclint.semantics.values import FALSE, NONE, TRUE, Static

from ..lib.wording import consequence, loop_ids, short

_WAY_OUT = (
    "make the tensor before compiled code and pass it in, or drop `requires_grad=True` where "
    "nobody reads the gradient: tensors computed from inputs have one anyway"
)


class RequiresGradAtCreation(Rule[TensorFactory]):
    """Compiled code makes a tensor with `requires_grad=True`."""

    code = "TCL192"
    name = "requires-grad-at-creation"
    summary = "`torch.zeros(..., requires_grad=True)` in compiled code breaks the graph"
    instead = (
        "Make the tensor before the compiled call, or remove `requires_grad=True` where nobody "
        "reads the gradient"
    )
    on = TensorFactory
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0225", "GB7000")

    def check(self, event: TensorFactory) -> Finding | None:
        """Report the argument, unless it is false or off by default."""
        site, call = event.site, event.call
        asked = next((k.value for k in call.keywords if k.arg == "requires_grad"), None)
        if asked is None:
            return None
        confidence = _confidence(event, asked)
        if confidence is None:
            return None
        return Finding(
            f"`{short(site, call.func)}` creates a tensor with "
            f"`requires_grad=True`{consequence(site)}",
            Advice(_WAY_OUT),
            gb_ids=loop_ids(site, "GB0225"),
            confidence=Confidence.LOW if site.facts.default_off else confidence,
        )


def _confidence(event: TensorFactory, asked: ast.expr) -> Confidence | None:
    """How sure it is that the flag is on; None where it is off unless somebody turns it on."""
    kinds = list(options(event.site.value(asked)))
    if all(kind == TRUE for kind in kinds):
        return Confidence.HIGH
    if any(
        kind in (FALSE, NONE) or (isinstance(kind, Static) and kind.default_off) for kind in kinds
    ):
        return None
    training = isinstance(asked, ast.Attribute) and asked.attr == "training"
    return Confidence.MEDIUM if training else Confidence.LOW
