"""TCL115: an assert on an object, or on a list of tensors."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ObjectAssert
from tclint.semantics.lattice import options

from ..lib.wording import at_most_medium, consequence, loop_ids, short

_WHAT = {"tensor": "holds tensors", "object": "is or holds an object"}
_IDS = {"tensor": "GB0112", "object": "GB0055"}


class AssertObject(Rule[ObjectAssert]):
    """An assert tests the truth of an object, or of a container of tensors or objects."""

    code = "TCL115"
    name = "assert-object"
    summary = "`assert` on an object or a list of tensors breaks the graph"
    instead = "Assert a tensor or a number: `len(parts) > 0`, `module is not None`, `t.all()`"
    on = ObjectAssert
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0112", "GB0055", "GB7000")

    def check(self, event: ObjectAssert) -> Finding | None:
        """Report what is asked last."""
        site, tested = event.site, event.node
        assert isinstance(tested, ast.expr)
        sure = len(list(options(site.value(tested)))) == 1
        return Finding(
            f"`assert` calls `bool()` on `{short(site, tested)}`, which "
            f"{_WHAT[event.holds]}{consequence(site)}",
            _repair(event, tested),
            gb_ids=loop_ids(site, _IDS[event.holds]),
            confidence=None if sure else at_most_medium(event),
        )


def _repair(event: ObjectAssert, tested: ast.expr) -> Repair | Decline:
    """Ask for the truth before: then the assert is about a constant."""
    if isinstance(tested, ast.Tuple):
        return Decline("a tuple is always true: the assert may have been meant for its first item")
    asked = Replace(tested, "bool($tested)", {"tested": tested})
    return Repair("Call `bool()` on it first", (asked,))
