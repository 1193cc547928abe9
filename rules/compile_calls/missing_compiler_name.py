"""TCL425: a name of the compiler that the torch of the project does not have."""

from __future__ import annotations

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_bounds import shown
from tclint.torch_facts.lifetimes import since
from tclint.torch_facts.moved import RELEASED

from .asked import is_asked_for

_WAY_OUT = "check for the attribute first: older versions of torch lack it"


class MissingCompilerName(Rule[NameUsed]):
    """A compiler function that only a later torch has."""

    code = "TCL425"
    name = "missing-compiler-name"
    summary = "A compiler function that only a later torch has raises AttributeError"
    instead = (
        "Check for the attribute first, or raise the oldest torch that the project supports "
        "(`min-torch`)"
    )
    on = NameUsed
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Compare the release that brought the name with those that the project runs on."""
        site, first = event.site, since(event.name) if event.name in RELEASED else None
        owner, _, name = event.name.rpartition(".")
        if first is None or first <= site.settings.oldest_torch or is_asked_for(event, name):
            return None
        if site.module.name.partition(".")[0] == "torch":
            return None
        target = site.settings.target_torch
        lacking = target if target < first else site.settings.oldest_torch
        return Finding(
            f"`{owner}` has no `{name}` in torch {shown(lacking)}: this raises",
            fix=Advice(_WAY_OUT),
            confidence=Confidence.HIGH if target < first else None,
            before=first,
        )
