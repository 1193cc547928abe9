"""TCL420: mixed-precision names that torch is about to drop."""

from __future__ import annotations

import ast

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import AUTOCAST_NAMES

from .renaming import use_public_name, worth_saying


class DeprecatedAutocastName(Rule[NameUsed]):
    """A deprecated mixed-precision name: `torch.cuda.amp` and the like."""

    code = "TCL420"
    name = "deprecated-autocast-name"
    summary = "`torch.cuda.amp` is deprecated: each use warns"
    instead = 'Use `torch.amp.autocast("cuda")`'
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Look the name up; whoever supports older versions keeps it."""
        moved = AUTOCAST_NAMES.get(event.name)
        if moved is None or not worth_saying(event, moved):
            return None
        head, _, last = moved.new.rpartition(".")
        decorates = last.startswith("custom_")
        if event.call is None and not decorates:
            return None  # an annotation, or a question about the class
        shown = f'{head}.{last}({"device_type=" if decorates else ""}"{moved.device}")'
        return Finding(
            f"`{event.name}` is deprecated and warns: `{shown}` replaces it",
            fix=use_public_name(event, moved),
            node=event.call if isinstance(event.call, ast.Call) else event.expression,
            confidence=Confidence.HIGH,
        )
