"""TCL223: a dict gets an entry for each size."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.collect import is_present
from tclint.semantics.events import ContainerGrown
from tclint.semantics.values import UNKNOWN, Class, External

from .sizes import holds_size

_DECOMPOSING: Final = frozenset({"torch.pinverse", "torch.svd", "torch.qr", "torch.inverse"})


class CacheBySize(Rule[ContainerGrown]):
    """A dict that outlives the call gets a new entry for each size of a tensor."""

    code = "TCL223"
    name = "cache-by-size"
    summary = "A dict keyed by a tensor's size recompiles for each new size"
    instead = (
        "Compute the value on each call, or once in `__init__` for the largest size and slice it"
    )
    on = ContainerGrown
    effects = (Effect.RECOMPILE,)

    def check(self, event: ContainerGrown) -> Finding | None:
        """Report entries whose key is a size."""
        if event.method or not holds_size(event.key) or _is_dear(event):
            return None
        made = _made(event)
        if any(isinstance(event.site.value(one), Class) for one in made):
            return None  # a class statement breaks the graph, and the cache stays eager with it
        name = event.site.text(event.container)
        return Finding(
            f"`{name}` gets an entry for each size: each new size recompiles",
            Advice("compute the value each time, or once for the largest size and slice it"),
            confidence=Confidence.LOW if _may_stay_eager(event, made) else Confidence.MEDIUM,
        )


def _is_dear(event: ContainerGrown) -> bool:
    """True where the function decomposes a matrix, which a graph would do again on each call."""
    calls = (n for n in ast.walk(event.site.body.scope) if isinstance(n, ast.Call))
    names = [event.site.dotted(call.func) or "" for call in calls]
    return any(name.startswith("torch.linalg.") or name in _DECOMPOSING for name in names)


def _made(event: ContainerGrown) -> list[ast.expr]:
    """The expressions that may be what the entry holds, through a variable and both ways of it."""
    site, statement = event.site, event.site.statement
    made = [statement.value] if isinstance(statement, ast.Assign) else []
    for name in (one for one in (*made,) if isinstance(one, ast.Name)):
        made += (one.value for one in site.flow.sources(name) if one.value is not None)
    ways = [(one.body, one.orelse) for one in made if isinstance(one, ast.IfExp)]
    return [*made, *(way for pair in ways for way in pair)]


def _may_stay_eager(event: ContainerGrown, made: list[ast.expr]) -> bool:
    """True where an unknown function makes the entry: Dynamo may leave it, and the cache, eager."""
    callees = [event.site.value(one.func) for one in made if isinstance(one, ast.Call)]
    return any(
        one is UNKNOWN or (isinstance(one, External) and not is_present(one.name))
        for one in callees
    )
