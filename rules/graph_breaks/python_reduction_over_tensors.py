"""TCL163: Python's `any`, `all`, `sorted` over tensors."""

from __future__ import annotations

import ast

from tclint.diagnostics import Decline, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TensorBranch

from ..lib.wording import consequence, loop_ids, short

_IDS = {
    "any": ("GB0170",),
    "all": ("GB0170",),
    "sorted": ("GB0207", "GB0059"),
    "max": ("GB0193",),
    "min": ("GB0193",),
}
_INSTEAD = {
    "any": "`torch.stack([...]).any()` gives the answer as a tensor, for `torch.where`",
    "all": "`torch.stack([...]).all()` gives the answer as a tensor, for `torch.where`",
    "sorted": "`torch.sort(torch.stack([...]))` sorts on the device",
    "max": "without `key=` and `default=` it is traced",
    "min": "without `key=` and `default=` it is traced",
}


class PythonReductionOverTensors(Rule[TensorBranch]):
    """The builtin `any`, `all` or `sorted` reads the value of each tensor it gets."""

    code = "TCL163"
    name = "python-reduction-over-tensors"
    summary = "Builtin `any`, `all` or `sorted` over tensors breaks the graph"
    on = TensorBranch
    effects = (Effect.GRAPH_BREAK,)
    gb_ids = ("GB0170", "GB0207", "GB0059", "GB0193", "GB7000")

    def check(self, event: TensorBranch) -> Finding | None:
        """Report the builtin's call."""
        site, call = event.site, event.node
        ids = _IDS.get(event.kind)
        if ids is None or not isinstance(call, ast.Call):
            return None
        if event.kind in ("max", "min") and not call.keywords:
            return None
        generator = isinstance(event.test, ast.GeneratorExp) and event.kind in ("any", "all")
        end = consequence(site, always=generator)
        return Finding(
            f"`{event.kind}` reads the value of each tensor in `{short(site, event.test)}`{end}",
            Decline(_INSTEAD[event.kind]),
            gb_ids=loop_ids(site, *ids),
        )
