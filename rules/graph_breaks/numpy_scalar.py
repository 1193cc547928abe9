"""TCL142: a number that numpy computed is needed by Python."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import NumberNeeded, NumpyCall
from tclint.semantics.site import Site

from ..numpy_numbers.flow import follow
from ..numpy_numbers.twins import TWINS, is_certain, is_constant_number, use_twin

_WAY_OUT: Final = "Python has no function that gives the same number: compute it before the call"


class NumpyScalar(Rule[NumpyCall]):
    """A numpy function of sizes or constants gives a number that Python needs.

    ## What it does
    Reports `np.prod`, `np.sum`, `np.max`, `np.sqrt`, `np.log2` and their kin of shapes and numbers
    where the result is a size, an index, a condition, or goes into `int()`, `range()`, `math`.

    ## Why it hurts
    Dynamo traces numpy with tensors, so that the number is a 0-d tensor, and fetching its value
    breaks the graph. `math.prod(x.shape)` is computed while tracing. Numbers that only meet
    tensors (`x / np.sqrt(d)`) and floats that go straight into `int()` do not break it.

    ## Fix safety
    Safe where Python's function gives the same number: `math.prod`, `sum`, `max` and `min` of
    integers, `math.sqrt` of a number that is not negative. Unsafe where the type can be seen,
    where a shape may be empty (`np.prod(())` is `1.0`), and for logarithms, which may differ in
    the last digit. Declined with `axis=` or `dtype=`.

    ## References
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    """

    code = "TCL142"
    name = "numpy-scalar-in-region"
    summary = "a number computed by numpy is used as a size, an index or a condition"
    on = NumpyCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0059", "GB0088", "GB0124", "GB0170", "GB0208")
    examples = (
        Bad(
            """
def f(x):
    n = int(np.prod(x.shape[1:]))
    return x.view(-1, n) * 2
""",
            inputs="(torch.ones(4, 3, 2),)",
            fixed="""
def f(x):
    n = int(math.prod(x.shape[1:]))
    return x.view(-1, n) * 2
""",
            proves=("GB0033",),
        ),
        Bad(
            """
def f(x):
    if np.sqrt(x.shape[0]) > 1:
        return x * 2
    return x
""",
            fixed="""
def f(x):
    if math.sqrt(x.shape[0]) > 1:
        return x * 2
    return x
""",
            proves=("GB0170",),
            title="a condition",
        ),
        Bad(
            """
def f(x):
    return x.reshape(np.prod(x.shape)) * 2
""",
            unsafe="""
def f(x):
    return x.reshape(math.prod(x.shape)) * 2
""",
            proves=("GB0033",),
            title="the shape may be empty",
        ),
        Untouched(
            """
def f(x):
    return x.reshape(np.prod(x.shape, dtype=np.int32)) * 2
""",
            reason="takes one argument",
            proves=("GB0033",),
        ),
        Good(
            """
def f(x):
    return x / np.sqrt(x.shape[-1])
""",
            title="arithmetic with a tensor is traced",
        ),
        Good(
            """
def f(x):
    return x[: int(np.sqrt(x.shape[0]))] * 2
""",
            title="a float converted at once",
        ),
    )

    def check(self, event: NumpyCall) -> Finding | None:
        """Report numpy's numbers at their first use by Python."""
        site = event.site
        needs = [need for need in event.needs if not _is_captured(site, need)]
        if not needs:
            return None
        need = needs[0]
        elsewhere = need.use is not event.call
        needed = f" for `{need.site.text(need.use)}`" if elsewhere else ""
        return Finding(
            f"`{site.text(event.call.func)}` gives a tensor to Dynamo, and Python needs its "
            f"value{needed}: the graph breaks",
            fix=_repair(event),
            gb_ids=_IDS.get(need.why, ("GB0033", "GB0208")),
            confidence=None if all(map(is_certain, event.arguments)) else Confidence.MEDIUM,
        )


_IDS: Final = {
    "truth": ("GB0170",),
    "member": ("GB0170", "GB0088"),
    "not": ("GB0033", "GB0208"),
    "range": ("GB0059",),
    "text": ("GB0088", "GB0059"),
    "key": ("GB0088", "GB0033", "GB0208"),
    "python": ("GB0033", "GB0208", "GB0124"),
    "call": ("GB0208",),
}


def _is_captured(site: Site, need: NumberNeeded) -> bool:
    """True where the region captures single numbers, and a slice may end at one."""
    return need.why == "slice" and site.region is not None and site.region.capture_scalars


def _repair(event: NumpyCall) -> Repair | Decline:
    twin = TWINS.get(event.function)
    if twin is None:
        return Decline(_WAY_OUT)
    if not event.call.args or not is_constant_number(event.site.value(event.call.args[0])):
        return Decline(f"`{twin.name}` takes numbers of Python's")
    return use_twin(event, twin, list(follow(event.site, [event.call], twin.kind)))
