"""TCL413: something is compiled that torch.compile does not compile."""

from __future__ import annotations

import ast
from typing import ClassVar, Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall
from tclint.semantics.values import Function

SCRIPTED: Final = frozenset({"torch.jit.script", "torch.jit.trace", "torch.jit.freeze"})
DISABLED: Final = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})


class RefusedCompileTarget(Rule[CompileCall]):
    """torch.compile of what cannot be compiled: scripted modules and disabled functions.

    What it does:
        Reports `torch.compile` of the result of `torch.jit.script`, `trace` or `freeze`, and of
        functions that `@torch.compiler.disable` decorates.

    Why it hurts:
        A scripted module raises `RuntimeError: torch.compile does not support compiling
        torch.jit.script or torch.jit.freeze models directly` as soon as it is compiled. A disabled
        function just runs eagerly, without a word, and even with `fullgraph=True`: no graph at all
        (torch 2.13).

    Fix safety:
        Not fixed: which of the two is meant is the author's to say.

    References:
        `torch.compiler.disable`.
    """

    code = "TCL413"
    name = "refused-compile-target"
    summary = "Scripted modules and disabled functions are not compiled"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code="f = torch.compile(torch.jit.script(nn.Linear(3, 3)))\n",
            reason="compile the original",
            proves=("raises",),
            title="a scripted module",
        ),
        Untouched(
            code=(
                "@torch.compile(fullgraph=True)\n@torch.compiler.disable\n"
                "def f(x):\n    return x * 2\n"
            ),
            reason="remove one of the two",
            title="a disabled function",
        ),
        Good(code="f = torch.compile(nn.Linear(3, 3))\n", title="the original"),
        Good(
            code=(
                "@torch.compiler.disable(recursive=False)\ndef f(x):\n    return step(x)\n\n\n"
                "@torch.compile\ndef step(x):\n    return x * 2\n"
            ),
            title="what a disabled function calls",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look at what is compiled."""
        if _is_off(event):
            return None
        scripted = _script_call(event)
        if scripted:
            return Finding(
                f"torch.compile raises on what `{scripted}` returns",
                fix=Decline("compile the original instead of the scripted one"),
                confidence=Confidence.HIGH,
            )
        target = event.target
        if not isinstance(target, Function) or not DISABLED & set(target.info.decorators):
            return None
        return Finding(
            f"`{target.info.name}` is disabled: compiling it makes no graph, it runs eagerly",
            fix=Decline("one contradicts the other: remove one of the two"),
            confidence=Confidence.HIGH,
        )


def _script_call(event: CompileCall) -> str:
    """The function of ``torch.jit`` whose result is compiled; empty for none."""
    call = event.call
    if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Call):
        return ""
    name = event.site.dotted(call.args[0].func) or ""
    return name if name in SCRIPTED else ""


def _is_off(event: CompileCall) -> bool:
    node = event.keywords.get("disable")
    return isinstance(node, ast.Constant) and node.value is True
