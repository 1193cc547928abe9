"""TCL226: numpy computes with the size of a tensor."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NumpyCall

from ..numpy_numbers.flow import follow
from ..numpy_numbers.twins import TWINS, is_constant_number, use_twin
from .sizes import holds_size, is_last, is_ratio

_SIZES = "[(torch.ones(n, 3),) for n in range(3, 13)]"
# `math.log` and its like make the size a constant as well.
_SYMBOLIC: Final = frozenset({"math.sqrt", "math.ceil", "math.floor", "math.prod", "sum"})


class NumpyOfSize(Rule[NumpyCall]):
    """numpy computes a number from the size of a tensor.

    ## What it does
    Reports `np.sqrt(x.shape[0])`, `np.ceil(n / 2)`, `np.prod(x.shape)` and their like where the
    result does not break the graph (see TCL142 for those that do).

    ## Why it hurts
    What numpy gets has to be a number, so that the size becomes a constant and each new one
    compiles again: 8 times in 12 sizes on torch 2.13, then the function runs eagerly. `math.sqrt`
    and `math.ceil` of a size stay symbolic: 1 time. A dimension that never changes costs nothing,
    so the last one of a tensor is reported with low confidence.

    ## Fix safety
    Safe where Python's function gives the same number, unsafe where its type can be seen.

    ## References
    - [Working with recompilations](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.recompilation.html)
    """

    code = "TCL226"
    name = "numpy-of-size"
    summary = "numpy makes a tensor's size a constant, and each new one compiles again"
    on = NumpyCall
    effects = (Effect.RECOMPILE,)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    return x / np.sqrt(x.shape[0])
""",
            _SIZES,
            fixed="""
def f(x: torch.Tensor):
    return x / math.sqrt(x.shape[0])
""",
            proves=("recompile",),
        ),
        Bad(
            """
def f(x: torch.Tensor):
    half = int(np.ceil(x.shape[0] / 2))
    return x[:half] * 2
""",
            _SIZES,
            unsafe="""
def f(x: torch.Tensor):
    half = int(math.ceil(x.shape[0] / 2))
    return x[:half] * 2
""",
            proves=("recompile",),
            title="rounded",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    return x / np.sqrt(x.shape[0], dtype=np.float32)
""",
            "takes one argument",
            _SIZES,
            proves=("recompile",),
        ),
        Good(
            """
def f(x: torch.Tensor):
    return x / np.sqrt(3)
""",
            title="a constant",
        ),
    )

    def check(self, event: NumpyCall) -> Finding | None:
        """Report what math could do, of sizes."""
        twin = TWINS.get(event.function)
        if twin is None or twin.name not in _SYMBOLIC or not event.call.args:
            return None
        site, given = event.site, event.call.args[0]
        value = site.value(given)
        parts = (site.value(part) for part in ast.walk(given))
        if not is_constant_number(value) or not any(map(holds_size, parts)):
            return None
        way = list(follow(site, [event.call], twin.kind))
        if event.needs or _counts_a_loop(event) or is_ratio(given):
            return None
        return Finding(
            f"`{site.text(event.call)}` makes the size a constant: each new one compiles again",
            use_twin(event, twin, way),
            confidence=Confidence.LOW if is_last(given) else Confidence.MEDIUM,
        )


def _counts_a_loop(event: NumpyCall) -> bool:
    """True in ``range(int(np.ceil(n / 2)))``: the loop makes the size a constant anyway."""
    outer = (o for o in event.site.ancestors(event.call) if isinstance(o, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id == "range" for call in outer)
