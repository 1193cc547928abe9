"""TCL191: a number of a numpy array that Python needs."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Bad, Finding, Good, Rule, Untouched
from tclint.semantics.events import ArrayRead
from tclint.semantics.site import Site

from ..decisions.wording import consequence, loop_ids, short
from ..numpy_numbers.listed import listed, use_tuple, write_list

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
    Safe where the function itself writes the numbers out. `np.array([1, 2, 4])` becomes a tuple if
    it is only gone through, or read at places that are constants, and nobody can see the type of
    the numbers (as for TCL140; else unsafe). `tolist()` of such an array, of `np.arange` and of
    `np.linspace` becomes a list: `[start + i * step for ...] + [end]`, bit for bit; those
    of `torch.linspace` are rounded to float32. All else is declined: what takes the array's place
    depends on where it comes from.

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
        Bad(
            "\ndef f(x):\n    places = np.array([0, 2])\n    return x[places[0]] * x[places[1]]\n",
            fixed="\ndef f(x):\n    places = (0, 2)\n    return x[places[0]] * x[places[1]]\n",
            proves=("GB0033",),
            title="an array that is only read at known places",
        ),
        Bad(
            "\ndef f(x):\n    for rate in np.linspace(0, 0.3, 4).tolist():\n"
            "        x = x * (1 - rate)\n    return x\n",
            fixed="\ndef f(x):\n    for rate in [i * (0.3 / 3) for i in range(3)] + [0.3]:\n"
            "        x = x * (1 - rate)\n    return x\n",
            proves=("GB0109",),
            title="numbers at equal distances",
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
            _repair(event),
            gb_ids=(*ids, *loop_ids(site, ids[0])[1:]),
        )


def _repair(event: ArrayRead) -> Repair | Decline:
    site, node = event.site, event.node
    assert isinstance(node, ast.expr)
    match node:
        case ast.Subscript(value=ast.Name() as array) if event.via == "number":
            written = listed(site, array)
            return use_tuple(site, written) if written is not None else Decline(_WAY_OUT)
        case ast.Call(func=ast.Attribute(value=made, attr="tolist"), args=[], keywords=[]):
            return write_list(site, node, made) or Decline(_WAY_OUT)
    return Decline(_WAY_OUT)


def _is_drawn(site: Site, node: ast.expr) -> bool:
    """True for `np.random.rand(1).item()`, which TCL181 reports."""
    func = node.func if isinstance(node, ast.Call) else None
    made = func.value if isinstance(func, ast.Attribute) else None
    return isinstance(made, ast.Call) and (site.dotted(made.func) or "").startswith("numpy.random.")


def _what(via: str) -> str:
    if via == "number":
        return "is of a numpy array, and Python needs the number"
    return "reads a numpy array in Python"
