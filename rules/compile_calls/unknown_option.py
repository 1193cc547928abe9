"""TCL404: an option that Inductor does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import CompileCall

from .arguments import names_for, rename, uses_inductor, version_of
from .nearest import nearest

TAKEN_BY_COMPILE = frozenset({"guard_filter_fn", "use_aoti"})


class UnknownInductorOption(Rule[CompileCall]):
    """An option that Inductor does not have."""

    code = "TCL404"
    name = "unknown-inductor-option"
    summary = "An option that Inductor does not have makes `torch.compile` raise"
    instead = "Use an option that Inductor has: `torch._inductor.list_options()` lists them"
    on = CompileCall
    effects = (Effect.INVALID,)
    outside_regions = True

    def check(self, event: CompileCall) -> Finding | None:
        """Compare the keys with the options of the targeted torch; the first wrong one counts."""
        options = event.keywords.get("options")
        if not isinstance(options, ast.Dict) or not uses_inductor(event):
            return None
        known = names_for(event).options
        for key, written in _keys(options):
            if written.replace("-", "_") in known or written in TAKEN_BY_COMPILE:
                continue
            suggestion = nearest(written, known)
            clear = suggestion is not None and suggestion.clear
            return Finding(
                f'"{written}" is no Inductor option of {version_of(event)}: torch.compile raises',
                fix=rename(event, key, suggestion),
                node=key,
                confidence=Confidence.HIGH,
                instead=f'Use "{suggestion.name}"' if suggestion and clear else "",
            )
        return None


def _keys(options: ast.Dict) -> Iterator[tuple[ast.Constant, str]]:
    for key in options.keys:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            yield key, key.value
