"""TCL165: a check that raises depends on a tensor."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch

from ..lib.facts.branch_tests import decided_if, is_guard
from ..lib.facts.likely_numbers import is_likely_number
from ..lib.facts.random_tests import decides_at_random, is_number_of_library
from ..lib.rewrite.compiled_assert import assert_when_compiled
from ..lib.wording import at_most_medium, consequence, loop_ids, short

_KINDS = ("if", "compare")


class ValidationGuard(Rule[TensorBranch]):
    """A check on a tensor's value raises an exception."""

    code = "TCL165"
    name = "validation-guard"
    summary = "a check of a tensor's value that raises breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the tensor that decides whether to raise."""
        site, test = event.site, event.test
        decided = decided_if(site, event.node) if event.kind in _KINDS else None
        if decided is None or not is_guard(decided):
            return None
        if (
            decides_at_random(site, test)
            or is_number_of_library(site, test)
            or is_likely_number(site, test)
        ):
            return None
        paths = " on some paths" if event.sometimes else ""
        return Finding(
            f"A check asks for the value of the tensor `{short(site, test)}`{paths}"
            f"{consequence(site)}",
            assert_when_compiled(site, decided),
            gb_ids=loop_ids(site, "GB0170"),
            confidence=at_most_medium(event) if event.sometimes else None,
        )
