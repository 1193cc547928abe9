"""TCL194: the same tensor is passed twice to an autograd function."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site

from ..lib.wording import at_most_medium, consequence, loop_ids, short

_SINCE: Final = (2, 13)
"""Older releases trace it."""
_NO_GRADIENTS: Final = ("torch.no_grad", "torch.inference_mode")
_INSTEAD: Final = "Pass a view the second time, which shares the memory: `{0}.view_as({0})`"


class TensorPassedTwice(Rule[Call]):
    """Compiled code passes the same tensor twice to an autograd function."""

    code = "TCL194"
    name = "tensor-passed-twice"
    summary = "Passing a tensor twice to an autograd function breaks the graph"
    instead = _INSTEAD.format("x")
    on = Call
    called = ("apply",)
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB6297", "GB7000")

    def check(self, event: Call) -> Finding | None:
        """Report the call whose arguments name one tensor more than once."""
        site = event.site
        if event.function != "torch.autograd.Function.apply" or _without_gradients(site):
            return None
        again = _repeated(site, event.call)
        if again is None:
            return None
        return Finding(
            f"`{short(site, again)}` is passed twice to `{short(site, event.call.func)}`"
            f"{consequence(site)}",
            gb_ids=loop_ids(site, "GB6297"),
            confidence=at_most_medium(event),
            instead=_INSTEAD.format(short(site, again)),
            since=_SINCE,
        )


def _without_gradients(site: Site) -> bool:
    items = (item.context_expr for block in site.facts.contexts for item in block.items)
    calls = (item.func for item in items if isinstance(item, ast.Call))
    return any(site.dotted(call) in _NO_GRADIENTS for call in calls)


def _repeated(site: Site, call: ast.Call) -> ast.expr | None:
    """The first argument that names a tensor which stands further left already."""
    seen: set[str] = set()
    for argument in call.args:
        if not isinstance(argument, (ast.Name, ast.Attribute)):
            continue
        if tensor_in(site.value(argument)) is None:
            continue
        text = ast.dump(argument)
        if text in seen:
            return argument
        seen.add(text)
    return None
