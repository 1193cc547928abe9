"""TCL141: numpy counts a loop that Python could count."""

from __future__ import annotations

from tclint.diagnostics import Confidence, Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Loop

from ..numpy_numbers.counting import counted, use_range


class NumpyLoop(Rule[Loop]):
    """A loop over `np.arange` uses its variable only in arithmetic.

    ## What it does
    Reports loops over `np.arange` that Dynamo traces in one graph.

    ## Why it hurts
    It does not break the graph, but every step indexes an array and computes with a 0-d tensor:
    ten steps of `x = x + 1.0 / (k + 1)` are 41 operations in the graph instead of 10, and tracing
    and lowering a hundred steps took 0.51 s instead of 0.36 s. Inductor folds them: compiled
    code is as fast as with `range` (22 against 23 µs on an H200). Eager steps are 9% slower. The
    next use of the variable as an index makes the whole function run eagerly (TCL140).

    ## Fix safety
    As for TCL140: safe where all bounds are integers and nobody can see the number's type; unsafe
    where numpy would give `inf` for a division by zero, or would wrap around.

    ## References
    - [NumPy support in torch.compile](https://docs.pytorch.org/docs/stable/torch.compiler_faq.html)
    """

    code = "TCL141"
    name = "numpy-loop"
    summary = "a loop over `np.arange` traces array operations that `range` does not need"
    on = Loop
    effects = (Effect.COLD_START,)
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    for k in np.arange(3):
        x = x + 1.0 / (k + 1)
    return x
""",
            fixed="""
def f(x: torch.Tensor):
    for k in range(3):
        x = x + 1.0 / (k + 1)
    return x
""",
        ),
        Bad(
            """
def f(x: torch.Tensor, steps):
    for k in np.arange(steps):
        x = x + k
    return x
""",
            inputs="(torch.ones(4, 3), 3)",
            unsafe="""
def f(x: torch.Tensor, steps):
    for k in range(steps):
        x = x + k
    return x
""",
            title="the bound may be a float",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    for k in np.arange(0.0, 1.0, 0.25):
        x = x + k
    return x
""",
            reason="is a float",
        ),
        Good(
            """
def f(x: torch.Tensor):
    for k in range(3):
        x = x + k
    return x
"""
        ),
    )

    def check(self, event: Loop) -> Finding | None:
        """Report counting loops of numpy that stay in the graph."""
        if event.over != "numpy" or event.breaking_uses:
            return None
        if counted(event.site, event) is None:
            return None
        return Finding(
            "numpy counts this loop: every step traces array operations that `range` does not need",
            fix=use_range(event),
            confidence=Confidence.MEDIUM,
        )
