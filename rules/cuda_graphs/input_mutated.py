"""TCL701: an input is changed in place under CUDA graphs."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.values import Tensor

from ..lib.facts.origins import is_input
from .modes import records_graphs

# These end in an underscore and write no element.
_HARMLESS: Final = frozenset({"requires_grad_", "detach_", "share_memory_", "rename_"})


class InputMutatedUnderCudaGraphs(Rule[Call]):
    """Code compiled with CUDA graphs changes one of its inputs in place."""

    code = "TCL701"
    name = "input-mutated-under-cuda-graphs"
    summary = "An input that is modified in place makes torch skip CUDA graphs"
    instead = (
        "Return the new value, make the tensor a buffer, or call "
        "`torch._dynamo.mark_static_address` on it once"
    )
    worth = Worth.HIGH
    measured = "0.67 ms of a call of 0.85 ms (H200)"
    on = Call
    on_gpu = True
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at in-place methods of parameters."""
        site, name = event.site, event.function.rpartition(".")[2]
        region = site.region
        if region is None or not records_graphs(region.mode):
            return None
        if not isinstance(event.owner, Tensor):
            return None
        if not name.endswith("_") or name.endswith("__") or name in _HARMLESS:
            return None
        source = event.call.func.value if isinstance(event.call.func, ast.Attribute) else None
        if not isinstance(source, ast.Name) or not is_input(site, source):
            return None
        return Finding(
            f'`{source.id}` is modified in place: `mode="{region.mode}"` records no CUDA graph',
            confidence=Confidence.MEDIUM if event.owner.assumed else None,
        )
