"""TCL401: a mode that torch.compile does not know."""

from __future__ import annotations

import re

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from .arguments import names_for, rename, text, uses_inductor, version_of
from .nearest import Nearest, nearest


class UnknownCompileMode(Rule[CompileCall]):
    """A mode that `torch.compile` does not have."""

    code = "TCL401"
    name = "unknown-compile-mode"
    summary = "A mode that `torch.compile` does not know makes it raise"
    instead = "Use a mode that torch has, such as `max-autotune` or `reduce-overhead`"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Compare the mode with those of the targeted torch."""
        mode = text(event, "mode")
        known = names_for(event).modes
        if not mode or mode in known or not uses_inductor(event):
            return None
        node = event.keywords.get("mode")
        suggestion = meant_mode(mode, known)
        names = f'"{suggestion.name}"' if suggestion and suggestion.clear else _listed(known)
        return Finding(
            f'"{mode}" is no mode of {version_of(event)}, so torch.compile raises',
            fix=rename(event, node, suggestion),
            node=node,
            confidence=Confidence.HIGH,
            instead=f"Use {names}",
        )


def meant_mode(mode: str, known: frozenset[str]) -> Nearest | None:
    """The mode of that spelling, or else the only one with that first word."""
    without = _without_graphs(mode)
    alike = sorted(name for name in known if _without_graphs(name) == without)
    close = nearest(mode, alike)
    if close and close.clear:
        return close
    family = [name for name in alike if _words(name)[:1] == _words(mode)[:1]]
    return Nearest(family[0], clear=True) if len(family) == 1 else close


def _without_graphs(mode: str) -> bool:
    """True for a name that rules CUDA graphs out: no misspelling turns that round."""
    return "nocudagraph" in "".join(_words(mode))


def _words(mode: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", mode.lower())


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
