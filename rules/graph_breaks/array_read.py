"""TCL191: a number of a numpy array that Python needs."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ArrayRead
from tclint.semantics.lattice import may_be_tensor
from tclint.semantics.site import Site
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.wording import at_most_medium, consequence, loop_ids, short

_WAY_OUT: Final = (
    "use torch functions instead of numpy in compiled code, or compute the numbers in Python "
    "before compiled code"
)
_IDS: Final = {"tolist": ("GB0109", "GB0033"), "item": ("GB0033", "GB0208")}


class ReadOfArray(Rule[ArrayRead]):
    """Python needs the contents of a numpy array."""

    code = "TCL191"
    name = "array-read"
    summary = "A number that Python reads from a numpy array breaks the graph"
    instead = (
        "Compute with torch's functions, or compute the numbers in Python before the compiled call"
    )
    on = ArrayRead
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0059", "GB0109", "GB0208", "GB7000")

    def check(self, event: ArrayRead) -> Finding | None:
        """Report the read, unless the region captures single numbers."""
        site = event.site
        if site.has_setting(SCALARS) and event.via in ("item", "number"):
            return None
        assert isinstance(event.node, ast.expr)
        if _is_drawn(site, event.node):
            return None
        ids = _IDS.get(event.via, ("GB0033",))
        # A helper for both gives either: which of them comes here, its caller knows.
        either = may_be_tensor(site.value(event.node))
        return Finding(
            f"`{short(site, event.node)}` {_what(event.via)}{consequence(site)}",
            Advice(_WAY_OUT),
            gb_ids=(*ids, *loop_ids(site, ids[0])[1:]),
            confidence=at_most_medium(event) if either else None,
        )


def _is_drawn(site: Site, node: ast.expr) -> bool:
    """True for `np.random.rand(1).item()`, which TCL181 reports."""
    func = node.func if isinstance(node, ast.Call) else None
    made = func.value if isinstance(func, ast.Attribute) else None
    return isinstance(made, ast.Call) and (site.dotted(made.func) or "").startswith("numpy.random.")


def _what(via: str) -> str:
    if via == "number":
        return "comes from a numpy array, and Python needs the number"
    return "reads a numpy array in Python"
