"""TCL140: numpy counts a loop, and Python needs its counter as a number."""

from __future__ import annotations

import ast

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import Loop

from ..numpy_numbers.counting import use_range

_LOOP = ("GB7000",)


class NumpyLoopVariable(Rule[Loop]):
    """A loop over `np.arange` uses its variable as an index, a size or a condition.

    ## What it does
    Reports loops over numpy arrays whose variable indexes, slices, is compared in an `if`, is a
    key, or goes into `int()` or `range()`.

    ## Why it hurts
    Dynamo traces numpy with tensors: the loop's variable is a 0-d tensor, and a tensor has no
    value that Python could use. Since the graph would end inside a loop, the **whole function**
    runs eagerly, with everything before and after the loop. Stacking eight rows of a CUDA tensor
    on an H200 took 76 µs compiled over `np.arange(8)`, as long as in eager, and 25 µs over
    `range(8)`. In a comprehension only the comprehension runs eagerly.

    ## Fix safety
    `range` counts the same, with `int` instead of `np.int64`. Tensors give the same results with
    both, so the fix is safe where all bounds are integers and the variable ends in indices, in
    arithmetic with tensors, in comparisons. It is unsafe where the number's type can be seen (it
    is returned, stored, given to other functions), where numpy would wrap around, and where a
    division by zero would give `inf` instead of an exception. Arrays that are written out,
    `np.array([1, 2, 4])`, become tuples under the same conditions.

    ## References
    - [Graph break GB7000](https://meta-pytorch.org/compile-graph-break-site/gb/gb7000.html)
    """

    code = "TCL140"
    name = "numpy-loop-variable"
    summary = "a loop over `np.arange` uses its variable as a number: the function runs eagerly"
    on = Loop
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB7000", "GB0033", "GB0059", "GB0088", "GB0170")
    examples = (
        Bad(
            """
def f(x: torch.Tensor):
    rows = []
    for k in np.arange(x.shape[0]):
        rows.append(x[k] * (k + 1))
    return torch.stack(rows)
""",
            fixed="""
def f(x: torch.Tensor):
    rows = []
    for k in range(x.shape[0]):
        rows.append(x[k] * (k + 1))
    return torch.stack(rows)
""",
            proves=("GB7000",),
        ),
        Bad(
            """
def f(x: torch.Tensor):
    for k in np.arange(-2, 4, 3):
        if k == 1:
            x = x * 2
        x = x + 1 / k
    return x
""",
            unsafe="""
def f(x: torch.Tensor):
    for k in range(-2, 4, 3):
        if k == 1:
            x = x * 2
        x = x + 1 / k
    return x
""",
            proves=("GB7000",),
            title="numpy divides by zero",
        ),
        Bad(
            """
def f(x: torch.Tensor):
    for k in np.array([1, 2, 3]):
        x = x + x[k]
    return x
""",
            fixed="""
def f(x: torch.Tensor):
    for k in (1, 2, 3):
        x = x + x[k]
    return x
""",
            proves=("GB7000",),
            title="numbers that are written out",
        ),
        Untouched(
            """
def f(x: torch.Tensor):
    for k in np.linspace(0, 1, 4):
        if k > 0.5:
            x = x * k
    return x
""",
            reason="only `np.arange` itself",
            proves=("GB7000",),
        ),
        Good(
            """
def f(x: torch.Tensor):
    for k in np.arange(3):
        x = x + k
    return x
""",
            title="arithmetic alone is traced",
        ),
    )

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
