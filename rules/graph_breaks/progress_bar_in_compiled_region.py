"""TCL123: a progress bar in compiled code."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import SideEffectCall

from ..output.message import describe, gb_ids
from ..output.progress import without_bar


class ProgressBarInCompiledRegion(Rule[SideEffectCall]):
    """A loop shows its progress where Dynamo traces.

    ## What it does
    Reports `tqdm` and `trange` in compiled code, also with `disable=True`.

    ## Why it hurts
    The bar takes locks, reads the clock and writes to the terminal; none of that can be traced.
    The graph ends before the loop, what the loop computes is not compiled together with what is
    around it, and often nothing of the function is compiled at all.

    ## Fix safety
    While compiling, the loop runs over the bare iterable:
    `(items if torch.compiler.is_compiling() else tqdm(items))`. Eager code keeps its bar. The fix
    is unsafe when the bar's other arguments do more than compute. With `side-effects = "remove"`
    the bar goes for good, which is unsafe. A bar with a name, for instance for `set_postfix`, is
    left alone.

    ## References
    - [Graph break GB0007](https://meta-pytorch.org/compile-graph-break-site/gb/gb0007.html)
    """

    code = "TCL123"
    name = "progress-bar-in-compiled-region"
    summary = "A progress bar in compiled code breaks the graph"
    on = SideEffectCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0007", "GB0008")
    examples = (
        Bad(
            """
from tqdm import tqdm

def f(x):
    y = x * 1
    for i in tqdm(range(3), bar_format="{n} of 3"):
        y = y + i
    return y
""",
            fixed="""
from tqdm import tqdm

def f(x):
    y = x * 1
    for i in range(3) if torch.compiler.is_compiling() else tqdm(range(3), bar_format="{n} of 3"):
        y = y + i
    return y
""",
            proves=("GB0007",),
            title="a bar around a loop",
        ),
        Bad(
            """
from tqdm import trange

def f(x):
    xs = [i * x for i in trange(3, disable=True)]
    return sum(xs)
""",
            fixed="""
from tqdm import trange

def f(x):
    xs = [i * x for i in (range(3) if torch.compiler.is_compiling() else trange(3, disable=True))]
    return sum(xs)
""",
            proves=("GB0007",),
            title="in a comprehension, switched off",
        ),
        Untouched(
            """
from tqdm import tqdm

def f(x):
    bar = tqdm(total=1)
    y = x * 2
    bar.update()
    return y
""",
            reason="the bar is used for more than one iteration over it",
            proves=("GB0007",),
        ),
        Good(
            """
def f(x):
    for step in range(3):
        x = x + step
    return x
"""
        ),
    )

    def check(self, event: SideEffectCall) -> Finding | None:
        """Report progress bars."""
        if event.sink != "tqdm":
            return None
        return Finding(describe(event), without_bar(event), gb_ids=gb_ids(event, "GB0007"))
