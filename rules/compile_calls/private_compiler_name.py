"""TCL421: a private name of the compiler that has a public one."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_facts.moved import COMPILER_NAMES

from .renaming import use_public_name, worth_saying


class PrivateCompilerName(Rule[NameUsed]):
    """A private compiler name is used where a public one does the same."""

    code = "TCL421"
    name = "private-compiler-name"
    summary = "`torch._dynamo` is private where `torch.compiler` has the same name"
    instead = "Use the public name"
    on = NameUsed
    effects = (Effect.NONE,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Look the name up among those that are the same function."""
        moved = COMPILER_NAMES.get(event.name)
        if moved is None or not moved.same or not worth_saying(event, moved):
            return None
        why = "is deprecated and warns" if moved.warns else "is private, and may go"
        return Finding(
            f"`{event.name}` {why}",
            fix=use_public_name(event, moved),
            confidence=_confidence(event.name, warns=moved.warns),
            instead=f"Use `{moved.new}`",
        )


def _confidence(name: str, *, warns: bool) -> Confidence:
    """Low where only the underscore speaks against the name."""
    if warns:
        return Confidence.HIGH
    return Confidence.MEDIUM if name.endswith(".is_compiling") else Confidence.LOW
