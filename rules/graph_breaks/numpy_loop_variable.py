"""TCL140: a loop variable from numpy that is used as a Python number."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Loop
from tclint.semantics.lattice import options
from tclint.semantics.values import Iteration, NumpyScalar, Value

from ..lib.rewrite.range_loop import use_range

_LOOP = ("GB7000",)


class NumpyLoopVariable(Rule[Loop]):
    """A loop over `np.arange` uses its variable as an index, a size or a condition."""

    code = "TCL140"
    name = "numpy-loop-variable"
    summary = "A loop over `np.arange` uses its variable as a number: the function runs eagerly"
    instead = "Loop over `range`, or over a list or tuple of Python numbers"
    on = Loop
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB7000", "GB0033", "GB0059", "GB0088", "GB0170")

    def check(self, event: Loop) -> Finding | None:
        """Report numpy loops whose variable Python needs as a number."""
        if event.over != "numpy" or not event.breaking_uses:
            return None
        site = event.site
        variable = site.text(event.target)
        statement = isinstance(site.parent(event.iterable), ast.For)
        cost = "the function runs eagerly" if statement else "the graph breaks"
        return Finding(
            f"`{variable}` is a number of numpy, and used as {_kind(event)}: {cost}",
            fix=use_range(event),
            gb_ids=_LOOP if statement else ("GB0033", "GB0059", "GB0170"),
            related=event.breaking_uses,
        )


def _kind(loop: Loop) -> str:
    """What the variable would be without numpy, as far as the array tells."""
    values = [*options(loop.site.value(loop.iterable))]
    return "a Python int" if values and all(map(_counts, values)) else "a number"


def _counts(value: Value) -> bool:
    element = value.element if isinstance(value, Iteration) else None
    return isinstance(element, NumpyScalar) and element.type == "int"
