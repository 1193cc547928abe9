"""TCL320: a Python range or a numpy array indexes a tensor."""

from __future__ import annotations

from tclint.diagnostics import Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorIndex

from ..lib.rewrite.arange_positions import is_varying, use_arange

_COPIED = "is copied to the device on every call, and the CPU waits"


class RangeAsIndex(Rule[TensorIndex]):
    """A tensor is indexed by `range(n)`, `list(range(n))` or `np.arange(n)`."""

    code = "TCL320"
    name = "range-as-index"
    summary = "a Python range as an index is copied to the device, and compiles per length"
    on = TensorIndex
    effects = (Effect.RECOMPILE, Effect.HOST_SYNC)

    def check(self, event: TensorIndex) -> Finding | None:
        """Report the first range among the indices."""
        ranges = [(node, kind) for node, kind in event.items if kind != "list"]
        if not ranges:
            return None
        node, kind = ranges[0]
        site = event.site
        varying = kind != "numpy" and is_varying(site, node)
        if event.tensor.device == "cpu" and not varying:
            return None  # an index of a tensor on the host stays there
        also = ", and each new length compiles again" if varying else ""
        return Finding(
            f"`{site.text(node)}` {_COPIED}{also}",
            fix=use_arange(event, [node for node, _ in ranges]),
            node=node,
            effect=Effect.RECOMPILE if varying else Effect.HOST_SYNC,
        )
