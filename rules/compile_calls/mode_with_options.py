"""TCL403: mode and options in one call."""

from __future__ import annotations

from typing import ClassVar

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import CompileCall

from .arguments import given


class ModeWithOptions(Rule[CompileCall]):
    """Both mode and options in one call of torch.compile.

    What it does:
        Reports `torch.compile(..., mode=..., options=...)`.

    Why it hurts:
        `torch.compile` raises `RuntimeError: Either mode or options can be specified` as soon as
        it is called, with every backend, and even for `mode="default"` or `options={}`. A mode is
        a set of options: `max-autotune` is `{"max_autotune": True, "triton.cudagraphs": True,
        "coordinate_descent_tuning": True}`, so spell the mode out as options.

    Fix safety:
        Not fixed: which of the two was meant is the author's to say.

    References:
        `torch._inductor.list_mode_options()` shows the options behind each mode.
    """

    code = "TCL403"
    name = "mode-with-options"
    summary = "`mode` and `options` in one `torch.compile` call make it raise"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True
    examples: ClassVar = (
        Untouched(
            code=(
                '@torch.compile(mode="default", options={"max_autotune": True})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            reason="only you know which of the two is meant",
            proves=("raises",),
            title="both at once",
        ),
        Good(
            code=(
                '@torch.compile(options={"max_autotune": True, "triton.cudagraphs": False})\n'
                "def f(x):\n    return torch.relu(x)\n"
            ),
            title="the mode spelt out as options",
        ),
        Good(
            code='@torch.compile(mode="default", options=None)\ndef f(x):\n    return x + 1\n',
            title="None stands for nothing",
        ),
    )

    def check(self, event: CompileCall) -> Finding | None:
        """Look for two arguments that exclude each other."""
        if not (given(event, "mode") and given(event, "options")):
            return None
        return Finding(
            "torch.compile raises when it gets both `mode` and `options`: a mode is a set of "
            "options, so spell it out among them",
            fix=Decline("only you know which of the two is meant"),
            confidence=Confidence.HIGH,
        )
