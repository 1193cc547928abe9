"""TCL413: something is compiled that torch.compile does not compile."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.values import Function

from .arguments import is_true

SCRIPTED: Final = frozenset({"torch.jit.script", "torch.jit.trace", "torch.jit.freeze"})
DISABLED: Final = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})


class RefusedCompileTarget(Rule[CompileCall]):
    """`torch.compile` gets a scripted module or a disabled function, and compiles neither."""

    code = "TCL413"
    name = "refused-compile-target"
    summary = "Scripted modules and disabled functions are not compiled"
    instead = (
        "Compile the module from before it was scripted, or the function without its decorator"
    )
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look at what is compiled."""
        if is_true(event, "disable"):
            return None
        scripted = _script_call(event)
        if scripted:
            return Finding(
                f"torch.compile raises on what `{scripted}` returns",
                fix=Advice("compile the original function or module instead of the scripted one"),
                confidence=Confidence.HIGH,
            )
        target = event.target
        if not isinstance(target, Function) or not DISABLED & set(target.info.decorators):
            return None
        return Finding(
            f"`{target.info.name}` is disabled: compiling it makes no graph, it runs eagerly",
            fix=Advice("`torch.compile` and the decorator contradict each other: remove one"),
            confidence=Confidence.HIGH,
        )


def _script_call(event: CompileCall) -> str:
    """The function of ``torch.jit`` whose result is compiled; empty for none."""
    call = event.call
    if not isinstance(call, ast.Call) or not call.args or not isinstance(call.args[0], ast.Call):
        return ""
    name = event.site.dotted(call.args[0].func) or ""
    return name if name in SCRIPTED else ""
