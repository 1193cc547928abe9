"""TCL140: numpy counts a loop, and Python needs its counter as a number."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Loop

from ..lib.rewrite.range_loop import use_range

_LOOP = ("GB7000",)


class NumpyLoopVariable(Rule[Loop]):
    """A loop over `np.arange` uses its variable as an index, a size or a condition."""

    code = "TCL140"
    name = "numpy-loop-variable"
    summary = "a loop over `np.arange` uses its variable as a number: the function runs eagerly"
    on = Loop
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB7000", "GB0033", "GB0059", "GB0088", "GB0170")

    def check(self, event: Loop) -> Finding | None:
        """Report numpy loops whose variable Python needs as a number."""
        if event.over != "numpy" or not event.breaking_uses:
            return None
        site, use = event.site, event.breaking_uses[0]
        variable, where = site.text(event.target), site.text(use)
        statement = isinstance(site.parent(event.iterable), ast.For)
        cost = "the whole function runs eagerly" if statement else "the graph breaks"
        needed = "" if variable == where else f" in `{where}`"
        return Finding(
            f"numpy counts this loop, and Python needs `{variable}` as a number{needed}: {cost}",
            fix=use_range(event),
            gb_ids=_LOOP if statement else ("GB0033", "GB0059", "GB0170"),
            related=event.breaking_uses,
        )
