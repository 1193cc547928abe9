"""TCL513: activation checkpointing that does not say which variant it wants."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Confidence, Decline, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import CHECKPOINTS


class CheckpointUseReentrantUnset(Rule[NameUsed]):
    """`torch.utils.checkpoint` is called without `use_reentrant`."""

    code = "TCL513"
    name = "checkpoint-use-reentrant-unset"
    former_names = ("checkpoint-variant",)
    summary = "`checkpoint` without `use_reentrant` warns, and may lose gradients"
    instead = "Pass `use_reentrant=False`"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Look for the keyword."""
        call = event.call
        if event.name not in CHECKPOINTS or call is None:
            return None
        if any(k.arg in (None, "use_reentrant") for k in call.keywords):
            return None
        unpacked = call.args and isinstance(call.args[0], ast.Starred)
        return Finding(
            f"`{event.name.rpartition('.')[2]}` without `use_reentrant` warns, and may lose "
            "gradients",
            fix=Decline("the call uses `*args`/`**kwargs`")
            if unpacked
            else Repair(
                "Use the non-reentrant variant",
                (AddArgument(call, "False", keyword="use_reentrant"),),
                Change.BEHAVIOUR,
                changes="the non-reentrant variant is used: hooks and nested gradients differ",
            ),
            node=call,
            confidence=Confidence.HIGH,
        )
