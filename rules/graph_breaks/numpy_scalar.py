"""TCL142: a number that numpy computed is needed by Python."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Advice, Confidence, Decline, Effect
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import NumberNeeded, NumpyCall
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import SymInt
from tclint.torch_facts.dynamo_settings import SCALARS

from ..lib.facts.number_flow import follow
from ..lib.rewrite.python_equivalents import (
    PYTHON_EQUIVALENTS,
    is_constant_number,
    is_definite,
    use_equivalent,
)

_WAY_OUT: Final = "Python has no function that gives the same number: compute it before the call"
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


class NumpyScalar(Rule[NumpyCall]):
    """Python uses the result of a numpy function on sizes or constants as a number."""

    code = "TCL142"
    name = "numpy-scalar-in-region"
    summary = "A number computed by numpy is used as a size, an index or a condition"
    instead = "Compute with `math` or with Python's operators: sizes stay numbers"
    on = NumpyCall
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0033", "GB0059", "GB0088", "GB0124", "GB0170", "GB0208")

    def check(self, event: NumpyCall) -> Finding | None:
        """Report numpy's numbers at their first use by Python."""
        site = event.site
        needs = [need for need in event.needs if not _is_captured(site, need)]
        if not needs:
            return None
        need = needs[0]
        elsewhere = need.use is not event.call
        needed = f" in `{need.site.text(need.use)}`" if elsewhere else ""
        return Finding(
            f"`{site.text(event.call.func)}` is traced as a tensor, but used as a number{needed}: "
            "the graph breaks",
            fix=_repair(event),
            gb_ids=_IDS.get(need.why, ("GB0033", "GB0208")),
            related=tuple(
                one.use
                for one in needs
                if one.use is not event.call and one.site.module is site.module
            ),
            confidence=None if all(map(is_definite, event.arguments)) else Confidence.MEDIUM,
        )


def _is_captured(site: Site, need: NumberNeeded) -> bool:
    """True where the region captures single numbers, and a slice may end at one."""
    return need.why == "slice" and site.has_setting(SCALARS)


def _repair(event: NumpyCall) -> Repair | Decline:
    equivalent = PYTHON_EQUIVALENTS.get(event.function)
    if equivalent is None:
        return Advice(_WAY_OUT)
    given = event.call.args[: equivalent.takes]
    if not given or not all(is_constant_number(event.site.value(one)) for one in given):
        return Decline(f"`{equivalent.name}` takes only Python numbers")
    kinds = [kind for one in given for kind in options(event.site.value(one))]
    if equivalent.takes > 1 and any(isinstance(kind, SymInt) for kind in kinds):
        return Decline(f"Dynamo does not trace `{equivalent.name}` of sizes, which may vary")
    return use_equivalent(
        event, equivalent, list(follow(event.site, [event.call], equivalent.kind))
    )
