"""TCL411: a compiled model that nobody keeps."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall
from tclint.semantics.values import Object

from .arguments import as_written


class DiscardedCompileResult(Rule[CompileCall]):
    """The result of `torch.compile` is thrown away."""

    code = "TCL411"
    name = "discarded-compile-result"
    summary = "Discarding the result of `torch.compile` leaves the model eager"
    instead = (
        "Use what `torch.compile` returns, or compile a module in place with `model.compile()`"
    )
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Report calls whose value is lost, unless they compile in place."""
        call = event.call
        if not event.discarded or not isinstance(call, ast.Call) or not call.args:
            return None
        if event.site.dotted(call.func) != "torch.compile":
            return None
        return Finding(
            "torch.compile returns the compiled callable and does not change its argument: "
            "this result is unused",
            fix=_repair(event, call),
            confidence=Confidence.HIGH,
        )


def _repair(event: CompileCall, call: ast.Call) -> Repair | Decline:
    if not isinstance(event.target, Object) or not event.target.is_module:
        return Advice("only modules compile in place; bind the result to the name that is called")
    if not isinstance(call.args[0], (ast.Name, ast.Attribute)):
        return Decline("the model is an expression, not a variable")
    arguments, parts = as_written(call)
    return Repair(
        "Compile in place",
        (Replace(call, f"$model.compile({arguments})", {"model": call.args[0], **parts}),),
        Change.BEHAVIOUR,
        changes="the model runs compiled from now on",
    )
