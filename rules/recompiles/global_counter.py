"""TCL225: compiled code counts in a variable of the file."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import GlobalsDeclared
from tclint.semantics.lattice import options
from tclint.semantics.values import Static

_SYMBOLIC_SINCE = (2, 14)
"""The first release that compiles a global number in as a symbol once it changed."""


class GlobalCounter(Rule[GlobalsDeclared]):
    """Compiled code counts in a global variable."""

    code = "TCL225"
    name = "global-counter-in-region"
    summary = "Counting in a global variable recompiles on each call"
    instead = "Count where the compiled function is called, and pass the value in"
    on = GlobalsDeclared
    effects = (Effect.RECOMPILE,)

    def check(self, event: GlobalsDeclared) -> Finding | None:
        """Look for a declared name that is counted."""
        name = next((n for n in event.names if _is_counted(event, n)), None)
        if name is None:
            return None
        return Finding(
            f"`{name}` is compiled in as a constant: each call with a new value recompiles",
            Advice("count where the compiled function is called"),
            confidence=Confidence.HIGH,
            before=_SYMBOLIC_SINCE,
        )


def _is_counted(event: GlobalsDeclared, name: str) -> bool:
    for store in event.site.stores(name):
        match event.site.parent(store):
            case ast.AugAssign(op=ast.Add() | ast.Sub(), value=step):
                values = (*options(event.site.value(store)), *options(event.site.value(step)))
                if all(isinstance(v, Static) and v.type == "int" for v in values):
                    return True
    return False
