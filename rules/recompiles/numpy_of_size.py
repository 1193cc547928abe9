"""TCL226: numpy computes with the size of a tensor."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NumpyCall

from ..lib.facts.number_flow import follow
from ..lib.rewrite.python_equivalents import PYTHON_EQUIVALENTS, is_constant_number, use_equivalent
from .sizes import holds_size, is_last, is_ratio

# `math.log` and its like make the size a constant as well.
_SYMBOLIC: Final = frozenset({"math.sqrt", "math.ceil", "math.floor", "math.prod", "sum"})


class NumpyOfSize(Rule[NumpyCall]):
    """A numpy function computes a number from the size of a tensor."""

    code = "TCL226"
    name = "numpy-of-size"
    summary = "A numpy call on a tensor's size makes each new size recompile"
    instead = "Use `math`: it keeps the size symbolic"
    on = NumpyCall
    effects = (Effect.RECOMPILE,)

    def check(self, event: NumpyCall) -> Finding | None:
        """Report what math could do, of sizes."""
        equivalent = PYTHON_EQUIVALENTS.get(event.function)
        if equivalent is None or equivalent.name not in _SYMBOLIC or not event.call.args:
            return None
        site, given = event.site, event.call.args[0]
        value = site.value(given)
        parts = (site.value(part) for part in ast.walk(given))
        if not is_constant_number(value) or not any(map(holds_size, parts)):
            return None
        way = list(follow(site, [event.call], equivalent.kind))
        if event.needs or _counts_a_loop(event) or is_ratio(given):
            return None
        return Finding(
            f"`{site.text(event.call)}` makes the size a constant: each new size recompiles",
            use_equivalent(event, equivalent, way),
            confidence=Confidence.LOW if is_last(given) else Confidence.MEDIUM,
        )


def _counts_a_loop(event: NumpyCall) -> bool:
    """True in ``range(int(np.ceil(n / 2)))``: the loop makes the size a constant anyway."""
    outer = (o for o in event.site.ancestors(event.call) if isinstance(o, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "range" for call in outer)
