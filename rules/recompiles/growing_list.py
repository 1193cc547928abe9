"""TCL222: a list grows from call to call."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Advice, Confidence, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import ContainerGrown
from tclint.semantics.lattice import options
from tclint.semantics.values import Sequence

from .emptied import emptied_elsewhere, emptied_here, inherits, only_records

_LISTS: Final = frozenset({"list", "deque"})
_DECLINED: Final = Advice(
    "the code that reads the list is not known: return the value, or keep a tensor"
)


class GrowingList(Rule[ContainerGrown]):
    """Compiled code appends to a list that outlives the call."""

    code = "TCL222"
    name = "growing-list-in-forward"
    summary = "A list that grows on each call recompiles on each call"
    instead = "Return the values and append them outside, or write them into a buffer of fixed size"
    on = ContainerGrown
    effects = (Effect.RECOMPILE,)

    def check(self, event: ContainerGrown) -> Finding | None:
        """Report lists that nothing empties in the same call."""
        kinds = options(event.site.value(event.container))
        lists = [kind for kind in kinds if isinstance(kind, Sequence) and kind.type in _LISTS]
        if not event.method or not lists or not event.site.facts.recurs or emptied_here(event):
            return None
        name = event.site.text(event.container)
        return Finding(
            f"`{name}` grows on each call: it recompiles up to 8 times, then runs eagerly",
            _DECLINED,
            confidence=_confidence(event),
        )


def _confidence(event: ContainerGrown) -> Confidence:
    if emptied_elsewhere(event) or only_records(event.site) or inherits(event):
        return Confidence.LOW
    explicit = event.site.region is not None and event.site.region.explicit
    return Confidence.HIGH if explicit else Confidence.MEDIUM
