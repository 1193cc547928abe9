"""TCL422: `explain` with the arguments of the function."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed


class ExplainCall(Rule[NameUsed]):
    """`torch._dynamo.explain` is called with the function and its arguments at once."""

    code = "TCL422"
    name = "explain-with-arguments"
    summary = "`torch._dynamo.explain(f, x)` is deprecated in favor of `explain(f)(x)`"
    instead = "Call `torch._dynamo.explain(f)(...)`"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Count the arguments."""
        call = event.call
        if event.name != "torch._dynamo.explain" or call is None or event.site.facts.tries:
            return None
        unpacked = bool(call.args) and isinstance(call.args[0], ast.Starred)
        if len(call.args) + len(call.keywords) < 2 and not unpacked:
            return None
        return Finding(
            "`torch._dynamo.explain(f, ...)` is deprecated and warns: call `explain(f)(...)`",
            fix=Decline("the call does not show which argument is the function")
            if unpacked or not call.args
            else _repair(call),
            node=call,
            confidence=Confidence.HIGH,
        )


def _repair(call: ast.Call) -> Repair:
    """Part the function from its arguments."""
    parts: dict[str, ast.expr] = {"explain": call.func, "function": call.args[0]}
    given = []
    for place, node in enumerate(call.args[1:]):
        starred = isinstance(node, ast.Starred)
        parts[f"a{place}"] = node.value if isinstance(node, ast.Starred) else node
        given.append(f"*$a{place}" if starred else f"$a{place}")
    for place, keyword in enumerate(call.keywords):
        parts[f"k{place}"] = keyword.value
        given.append(f"{keyword.arg}=$k{place}" if keyword.arg else f"**$k{place}")
    template = f"$explain($function)({', '.join(given)})"
    return Repair("Call `explain(f)(...)`", (Replace(call, template, parts),))
