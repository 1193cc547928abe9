"""TCL415: `fullgraph=True` for a module that DDP or FSDP wraps."""

from __future__ import annotations

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from ..lib.facts.wrapped_modules import DDP, FSDP, wrapped_before
from .arguments import is_true


class FullgraphOfWrapped(Rule[CompileCall]):
    """`fullgraph=True` for a module that DDP or FSDP already wraps."""

    code = "TCL415"
    name = "fullgraph-of-wrapped-module"
    summary = "`fullgraph=True` raises for a module that DDP or FSDP wraps"
    instead = "Compile first and wrap the result: `DistributedDataParallel(torch.compile(model))`"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for a wrapper around what is compiled."""
        if not is_true(event, "fullgraph"):
            return None
        wrapper = wrapped_before(event, DDP | FSDP)
        if wrapper is None or "python_reducer" in event.site.module.file.text:
            return None
        return Finding(
            f"`{event.site.text(wrapper.func)}` does not compile as one graph: with "
            "`fullgraph=True` the first call raises",
            fix=Advice(
                "compile the module before it is wrapped; that changes the names in the state dict"
            ),
            node=event.keywords.get("fullgraph"),
            confidence=Confidence.HIGH,
            related=(wrapper,),
        )
