"""TCL424: a setting that the compiler does not have."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NameUsed
from tclint.torch_bounds import shown
from tclint.torch_facts.compile_names import compile_names
from tclint.torch_facts.lifetimes import since

from .asked import is_asked_for
from .nearest import Nearest, nearest

# Before, who wanted the module imported it; what it had then is not known.
_ATTRIBUTE_SINCE: Final = (2, 1)


class UnknownCompilerSetting(Rule[NameUsed]):
    """A config setting that Dynamo, AOTAutograd or Inductor does not have."""

    code = "TCL424"
    name = "unknown-compiler-setting"
    summary = "A setting that the compiler does not have raises AttributeError"
    instead = "Use a setting that this torch has, or set it only where `hasattr` finds it"
    on = NameUsed
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: NameUsed) -> Finding | None:
        """Compare the name with those of the targeted torch."""
        version = event.site.settings.target_torch
        module, _, name = event.name.rpartition(".")
        known = compile_names(version).settings.get(module)
        if known is None or is_asked_for(event, name):
            return None
        if name in known:
            return _younger(event)
        close = nearest(name, (k for k in known if not k.startswith("_")))
        clear = close is not None and close.clear
        return Finding(
            f"`{module}` has no `{name}` in torch {shown(version)}: this raises",
            fix=_repair(event, close)
            if close and clear
            else Decline("no setting has a similar name"),
            confidence=Confidence.HIGH if clear else Confidence.MEDIUM,
        )


def _younger(event: NameUsed) -> Finding | None:
    """A setting that came after the oldest torch of the project."""
    first, oldest = since(event.name), event.site.settings.oldest_torch
    if first is None or first <= max(oldest, _ATTRIBUTE_SINCE):
        return None
    module, _, name = event.name.rpartition(".")
    return Finding(
        f"`{module}` has no `{name}` in torch {shown(oldest)}: this raises AttributeError",
        fix=Advice("check for the attribute first: older versions of torch lack it"),
        before=first,
    )


def _repair(event: NameUsed, close: Nearest) -> Repair | Decline:
    match event.expression:
        case ast.Attribute(value=owner):
            return Repair(
                f"Use `{close.name}`",
                (Replace(event.expression, f"$owner.{close.name}", {"owner": owner}),),
                Change.BEHAVIOUR,
                changes=f"the line no longer raises, and uses `{close.name}`",
            )
    return Decline("the name is imported with `from`")
