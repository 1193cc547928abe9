"""TCL188: `requires_grad_()` is called in compiled code."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.collect import dotted_name
from tclint.semantics.events import Call
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes
from tclint.semantics.values import FALSE, Static, Tensor

from ..lib.facts.origins import is_made_here
from ..lib.rewrite.eager_gradients import WAY_OUT, switch_call_in_eager, switch_in_eager
from ..lib.wording import consequence, loop_ids, renumbered, short

_FUNCTION: Final = "torch.autograd.Function"


class RequiresGradCalled(Rule[Call]):
    """Compiled code calls `requires_grad_()`."""

    code = "TCL188"
    name = "requires-grad-called"
    summary = "`requires_grad_()` in compiled code breaks the graph"
    instead = "Set `requires_grad` before the compiled call; inside, `.detach()` stops gradients"
    on = Call
    called = ("requires_grad_",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0125", "GB8985", "GB7000")

    def check(self, event: Call) -> Finding | None:
        """Report the call on what comes from outside, or where it switches gradients on."""
        if event.owner is None:
            return None
        func = event.call.func
        assert isinstance(func, ast.Attribute)
        tensor = tensor_in(event.owner)
        made = tensor is not None and is_made_here(event.site, func.value, tensor)
        if made and _switches_off(event):
            return None
        if tensor is not None and tensor.role is None and _stays_inside(event):
            return None
        return Finding(
            f"`{short(event.site, event.call)}` in compiled code{consequence(event.site)}",
            _repair(event, func.value, tensor),
            gb_ids=loop_ids(event.site, _id(event.site) if made else "GB0125"),
            confidence=Confidence.MEDIUM if made else None,
        )


def _id(site: Site) -> str:
    return renumbered(site, "GB0125", (2, 12), "GB8985")


def _stays_inside(event: Call) -> bool:
    """True in an autograd function for what it does not return: no gradient leaves with it.

    What `forward` computes outside of `torch.enable_grad()` needs none, and its results are new
    tensors for whatever calls it.
    """
    site, call = event.site, event.call
    bases = site.cls.bases if site.cls is not None and site.function is not None else ()
    if _id(site) == "GB0125" or _FUNCTION not in {dotted_name(site.module, one) for one in bases}:
        return False
    assert isinstance(call.func, ast.Attribute)
    outer = site.parent(call)
    kept = [call, call.func.value, *(outer.targets if isinstance(outer, ast.Assign) else ())]
    names = {one.id for one in kept if isinstance(one, ast.Name)}
    for node in nodes(site.body.scope):
        if isinstance(node, ast.Return) and node.value is not None:
            value = node.value
            given = value.elts if isinstance(value, ast.Tuple) else [value]
            if any(one is call or (isinstance(one, ast.Name) and one.id in names) for one in given):
                return False
    return True


def _switches_off(event: Call) -> bool:
    """True where it is off in the end, or unless somebody asks for it."""
    given = [*event.call.args, *(keyword.value for keyword in event.call.keywords)]
    values = [event.site.value(value) for value in given]
    return any(isinstance(v, Static) and (v == FALSE or v.default_off) for v in values)


def _repair(event: Call, owner: ast.expr, tensor: Tensor | None) -> Repair | Decline:
    if tensor is None:
        return Advice(WAY_OUT)
    if not isinstance(event.site.parent(event.call), ast.Expr):
        return switch_call_in_eager(event.site, event.call, owner, tensor)
    return switch_in_eager(event.site, owner, tensor)
