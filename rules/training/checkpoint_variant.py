"""TCL513: activation checkpointing that does not say which variant it wants."""

from __future__ import annotations

import ast
from typing import ClassVar

from tclint.diagnostics import Applicability, Confidence, Decline, Effect
from tclint.lint.rewrite import AddArgument, Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import CHECKPOINTS

BLOCK = """\
from torch.utils.checkpoint import checkpoint


class f(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return {call}
"""


class CheckpointVariant(Rule[NameUsed]):
    """`torch.utils.checkpoint` is called without `use_reentrant`.

    What it does:
        Reports calls of `checkpoint` and `checkpoint_sequential` that leave `use_reentrant` out.

    Why it hurts:
        Each call warns, and torch announces that it will raise. The default is the reentrant
        variant, which loses gradients: where no input requires one (the first layer, behind
        frozen ones), the output requires none either, and the layer is not trained (torch 2.13,
        with a warning). The other variant has no such gap and takes as long: 23 ms for forward and
        backward of 12 linear layers, against 21 to 27 ms (CPU). Both compile into one graph.

    Fix safety:
        Unsafe: the variant changes, and with it which hooks and nested gradients work.

    References:
        `torch.utils.checkpoint.checkpoint`, on the differences of the variants.
    """

    code = "TCL513"
    name = "checkpoint-variant"
    summary = "`checkpoint` without `use_reentrant` warns, and may lose gradients"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True
    examples: ClassVar = (
        Bad(
            code=BLOCK.format(call="checkpoint(self.linear, x)"),
            unsafe=BLOCK.format(call="checkpoint(self.linear, x, use_reentrant=False)"),
            proves=("warns",),
            title="not said",
        ),
        Untouched(
            code=BLOCK.format(call="checkpoint(*[self.linear, x])"),
            reason="not all written out",
            proves=("warns",),
            title="unpacked arguments",
        ),
        Good(
            code=BLOCK.format(call="checkpoint(self.linear, x, use_reentrant=False)"),
            title="said",
        ),
    )

    def check(self, event: NameUsed) -> Finding | None:
        """Look for the keyword."""
        call = event.call
        if event.name not in CHECKPOINTS or call is None:
            return None
        if any(k.arg in (None, "use_reentrant") for k in call.keywords):
            return None
        unpacked = call.args and isinstance(call.args[0], ast.Starred)
        return Finding(
            f"`{event.name.rpartition('.')[2]}` without `use_reentrant` warns, and its default "
            "loses gradients where no input requires one",
            fix=Decline("its arguments are not all written out")
            if unpacked
            else Repair(
                "Use the variant without reentry",
                (AddArgument(call, "False", keyword="use_reentrant"),),
                Applicability.UNSAFE,
                changes="the other variant is used, whose hooks and nested gradients differ",
            ),
            node=call,
            confidence=Confidence.HIGH,
        )
