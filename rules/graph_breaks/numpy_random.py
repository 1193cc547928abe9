"""TCL181: random numbers of numpy."""

from __future__ import annotations

import ast

from tclint.diagnostics import Advice, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NumpyCall

from ..lib.rewrite.draw_if_needed import (
    confidence_of_draw,
    draw_if_needed,
    is_drawn_if_needed,
)
from ..lib.wording import consequence, loop_ids

_PACKAGE = "numpy.random."
# The place of `size` among the positional arguments; with a size, Dynamo traces the call.
_SIZE = {"uniform": 2, "normal": 2, "randint": 2, "rand": 0, "randn": 0, "random": 0}
_SIZE |= {"random_sample": 0, "sample": 0}
_TRACED = frozenset({"seed"})
_NUMBERS = frozenset({"uniform", "rand", "random", "random_sample", "sample"})
_WAY_OUT = (
    "`torch.rand`, `torch.randint` and `torch.randperm` draw in the graph, but give different "
    "numbers; or draw before compiled code and pass the numbers in"
)


class NumpyRandom(Rule[NumpyCall]):
    """Compiled code draws from numpy's random generator."""

    code = "TCL181"
    name = "numpy-random"
    summary = "A draw from numpy's random generator breaks the graph"
    instead = (
        "Draw with `torch.rand`, `torch.randint` or `torch.randperm`, or draw before the "
        "compiled call and pass the numbers in"
    )
    on = NumpyCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0294", "GB0156", "GB0087", "GB7000")

    def check(self, event: NumpyCall) -> Finding | None:
        """Report single numbers, and functions that Dynamo has no counterpart of."""
        if not event.function.startswith(_PACKAGE):
            return None
        name = event.function.removeprefix(_PACKAGE)
        if name in _TRACED or (name in _SIZE and _is_traced(event, _SIZE[name])):
            return None
        ids = {"shuffle": "GB0087", "RandomState": "GB0156"}
        own = "GB0033" if name in _SIZE or name == "choice" else ids.get(name, "GB0294")
        return Finding(
            f"`np.random.{name}` cannot be traced{consequence(event.site)}",
            _repair(event, name),
            gb_ids=loop_ids(event.site, own),
            confidence=confidence_of_draw(event.site, event.call),
        )


def _is_traced(event: NumpyCall, place: int) -> bool:
    """True for an array that is not turned into a number at once."""
    outer = event.site.parent(event.call)
    read = isinstance(outer, ast.Attribute) and outer.attr in ("item", "tolist")
    converted = (
        isinstance(outer, ast.Call)
        and isinstance(outer.func, ast.Name)
        and outer.func.id in ("float", "int", "bool")
    )
    return _has_size(event.call, place) and not read and not converted


def _has_size(call: ast.Call, place: int) -> bool:
    given = call.args[place : place + 1] or [k.value for k in call.keywords if k.arg == "size"]
    return bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value is None)


def _repair(event: NumpyCall, name: str) -> Repair | Decline:
    one = name in _NUMBERS and not is_drawn_if_needed(event.site, event.call)
    repair = draw_if_needed(event.site, event.call) if one else Advice(_WAY_OUT)
    if isinstance(repair, Decline):
        return Advice(_WAY_OUT)
    return repair
