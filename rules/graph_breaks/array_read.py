"""TCL191: a number of a numpy array that Python needs."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ArrayRead
from tclint.semantics.lattice import may_be_tensor
from tclint.semantics.site import Site
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.rewrite.written_array import listed, use_tuple, write_list
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
            _repair(event),
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


def _repair(event: ArrayRead) -> Repair | Decline:
    site, node = event.site, event.node
    assert isinstance(node, ast.expr)
    match node:
        case ast.Subscript(value=ast.Name() as array) if event.via == "number":
            written = listed(site, array)
            return use_tuple(site, written) if written is not None else Advice(_WAY_OUT)
        case ast.Call(func=ast.Attribute(value=made, attr="tolist"), args=[], keywords=[]):
            return write_list(site, node, made) or Advice(_WAY_OUT)
    return Advice(_WAY_OUT)
