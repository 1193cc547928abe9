"""TCL403: mode and options in one call."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from .arguments import given


class ModeWithOptions(Rule[CompileCall]):
    """One call of `torch.compile` sets both `mode` and `options`."""

    code = "TCL403"
    name = "mode-with-options"
    summary = "`mode` and `options` in one `torch.compile` call make it raise"
    instead = (
        "Spell the mode out as options: `torch._inductor.list_mode_options()` lists those of "
        "each mode"
    )
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Look for two arguments that exclude each other."""
        if not (given(event, "mode") and given(event, "options")):
            return None
        return Finding(
            "torch.compile raises when it gets both `mode` and `options`",
            fix=Decline("tclint cannot tell which of the two is meant"),
            confidence=Confidence.HIGH,
        )
