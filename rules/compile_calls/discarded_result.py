"""TCL411: a compiled model that nobody keeps."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall
from tclint.semantics.values import Object


class DiscardedCompileResult(Rule[CompileCall]):
    """The result of torch.compile is thrown away.

    What it does:
        Reports `torch.compile(model)` as a statement of its own.

    Why it hurts:
        `torch.compile` returns a compiled wrapper and leaves its argument as it was: the model
        goes on running eagerly, without a word.

    Fix safety:
        Unsafe: `model.compile()` compiles in place, so the model now runs compiled, with its first
        call slow and results that may differ in their last bits. Offered for modules.

    References:
        `torch.nn.Module.compile`.
    """

    code = "TCL411"
    name = "discarded-compile-result"
    summary = "A thrown-away result of `torch.compile` leaves the model eager"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code="f = nn.Linear(3, 3)\ntorch.compile(f)\n",
            unsafe="f = nn.Linear(3, 3)\nf.compile()\n",
            title="a module",
        ),
        Untouched(
            code="def f(x):\n    return torch.relu(x)\n\n\ntorch.compile(f)\n",
            reason="only modules compile in place",
            title="a function",
        ),
        Good(code="f = nn.Linear(3, 3)\nf = torch.compile(f)\n", title="the result is kept"),
        Good(code="f = nn.Linear(3, 3)\nf.compile(dynamic=False)\n", title="compiled in place"),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Report calls whose value is lost, unless they compile in place."""
        call = event.call
        if not event.discarded or not isinstance(call, ast.Call) or not call.args:
            return None
        if event.site.dotted(call.func) != "torch.compile":
            return None
        return Finding(
            "torch.compile returns the compiled callable and leaves its argument as it was: "
            "this result is thrown away",
            fix=_repair(event, call),
            confidence=Confidence.HIGH,
        )


def _repair(event: CompileCall, call: ast.Call) -> Repair | Decline:
    if not isinstance(event.target, Object) or not event.target.is_module:
        return Decline("only modules compile in place; bind the result to the name that is called")
    if not isinstance(call.args[0], (ast.Name, ast.Attribute)):
        return Decline("the model is not a plain name")
    arguments = ", ".join(f"{key}=$k_{key}" for key in event.keywords)
    parts = {f"k_{key}": value for key, value in event.keywords.items()}
    return Repair(
        "Compile in place",
        (Replace(call, f"$model.compile({arguments})", {"model": call.args[0], **parts}),),
        Applicability.UNSAFE,
        changes="the model runs compiled from now on",
    )
