"""TCL191: a number of a numpy array that Python needs."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Good, Rule, Untouched
from tclint.semantics.events import ArrayRead
from tclint.semantics.site import Site

from ..decisions.wording import consequence, loop_ids, short

_WAY_OUT: Final = (
    "leave numpy out of compiled code: torch's own functions do the same without a number in "
    "Python, or compute the numbers before compiled code, as Python ones"
)
_IDS: Final = {"tolist": ("GB0109", "GB0033"), "item": ("GB0033", "GB0208")}


class ReadOfArray(Rule[ArrayRead]):
    """A numpy array's content is needed by Python.

    ## What it does
    Reports `.item()` and `.tolist()` of numpy arrays in compiled code, their elements and sums in
    `int()`, `float()`, `range()`, `math` or an index, and `np.allclose`. Arrays that are constants
    of the program count as well. What an `assert` or an `if` asks has rules of its own.

    ## Why it hurts
    Dynamo turns each array into a tensor, also one that was made before: its numbers are not there
    while it traces, so the graph ends where Python needs one. Arithmetic of arrays is traced.

    ## Fix safety
    There is no fix: what takes the array's place depends on where it comes from.

    ## References
    - [Graph break GB0033](https://meta-pytorch.org/compile-graph-break-site/gb/gb0033.html)
    - [Graph break GB0109](https://meta-pytorch.org/compile-graph-break-site/gb/gb0109.html)
    """

    code = "TCL191"
    name = "array-read"
    summary = "a number of a numpy array that Python needs breaks the graph"
    on = ArrayRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0059", "GB0109", "GB0208", "GB7000")
    examples = (
        Untouched(
            "\ndef f(x):\n    values = x.detach().cpu().numpy()\n"
            "    return x * float(values.max())\n",
            reason="leave numpy out of compiled code",
            proves=("GB0033",),
        ),
        Untouched(
            "\nweights = np.ones(3)\n\n\ndef f(x):\n    return x * weights.tolist()[0]\n",
            reason="leave numpy out of compiled code",
            proves=("GB0109",),
            title="an array that is a constant",
        ),
        Untouched(
            "\nplaces = np.arange(3)\n\n\ndef f(x):\n    return x[places[1]] * 2\n",
            reason="leave numpy out of compiled code",
            proves=("GB0033",),
            title="an index",
        ),
        Good(
            "\nweights = np.ones(3)\n\n\ndef f(x):\n"
            "    return x * weights[0] + torch.from_numpy(weights)\n",
            title="traced: arithmetic",
        ),
    )

    def check(self, event: ArrayRead) -> Finding | None:
        """Report the read, unless the region captures single numbers."""
        site = event.site
        captured = site.region is not None and site.region.capture_scalars
        if captured and event.via in ("item", "number"):
            return None
        assert isinstance(event.node, ast.expr)
        if _is_drawn(site, event.node):
            return None
        ids = _IDS.get(event.via, ("GB0033",))
        return Finding(
            f"`{short(site, event.node)}` {_what(event.via)}{consequence(site)}",
            Decline(_WAY_OUT),
            gb_ids=(*ids, *loop_ids(site, ids[0])[1:]),
        )


def _is_drawn(site: Site, node: ast.expr) -> bool:
    """True for `np.random.rand(1).item()`, which TCL181 reports."""
    func = node.func if isinstance(node, ast.Call) else None
    made = func.value if isinstance(func, ast.Attribute) else None
    return isinstance(made, ast.Call) and (site.dotted(made.func) or "").startswith("numpy.random.")


def _what(via: str) -> str:
    if via == "number":
        return "is of a numpy array, and Python needs the number"
    return "reads a numpy array in Python"
