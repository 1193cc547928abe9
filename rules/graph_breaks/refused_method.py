"""TCL189: a method of a library's object that Dynamo does not trace."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.values import Object
from tclint.torch_facts import SKIPPED_METHODS, skipped_method

from ..lib.wording import at_most_medium, consequence, loop_ids

_WAYS_OUT: Final = {
    "contextvars.ContextVar": "read the variable before compiled code and pass its value in",
    "numpy.random": "`torch.rand` and similar functions draw in the graph",
    "torch.autograd.function.FunctionCtx.mark_dirty": (
        "write the result to a new tensor instead of an input"
    ),
    "random.Random": "`torch.rand` and similar functions draw in the graph",
    "threading": "hold the lock around the call of compiled code, not inside it",
    "torch.Generator": "set the generator up before the compiled function is called",
    "torch.optim": "call it after the compiled step: only `optimizer.step` gains from compiling",
    "torch.amp": "scale the loss around the compiled function, not inside it",
    "torch.cuda.amp": "scale the loss around the compiled function, not inside it",
}
_SOMETIMES: Final = {
    "torch.autograd.function.FunctionCtx.mark_dirty": " where no input needs a gradient"
}
"""What is traced otherwise, and when it is not; measured on torch 2.13."""
_OTHERWISE: Final = (
    "call it before compiled code and pass the result in, or keep it for eager code under "
    "`if not torch.compiler.is_compiling():`"
)


class RefusedMethod(Rule[Call]):
    """Compiled code calls a method of a library object that Dynamo does not trace."""

    code = "TCL189"
    name = "refused-method"
    summary = "A method that Dynamo does not trace breaks the graph"
    instead = (
        "Make the call before the compiled code and pass its result in, or after it with the "
        "graph's results"
    )
    on = Call
    called = SKIPPED_METHODS
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = (
        "GB0007", "GB0008", "GB0059", "GB0088", "GB0142", "GB0156", "GB0292", "GB0299", "GB2019",
        "GB7650", "GB7000",
    )  # fmt: skip

    def check(self, event: Call) -> Finding | None:
        """Look the method up among those that were measured."""
        found = skipped_method(event.function, event.site.settings.target_torch)
        if (
            found is None
            or not isinstance(event.owner, Object)
            or _is_made_here(event, event.owner)
        ):
            return None
        backward = event.site.function is not None and event.site.function.name == "backward"
        sometimes = "" if backward else _SOMETIMES.get(event.function, "")
        return Finding(
            f"Dynamo does not trace `{event.function}`{sometimes}{consequence(event.site)}",
            Advice(_way_out(event.function)),
            gb_ids=loop_ids(event.site, found.gb_id),
            confidence=at_most_medium(event) if sometimes else None,
            since=found.since,
            before=found.until,
        )


def _is_made_here(event: Call, owner: Object) -> bool:
    """True for `hashlib.md5().update(...)`: what makes the object is reported."""
    func = event.call.func
    return isinstance(func, ast.Attribute) and owner.site is func.value


def _way_out(name: str) -> str:
    return next((text for start, text in _WAYS_OUT.items() if name.startswith(start)), _OTHERWISE)
