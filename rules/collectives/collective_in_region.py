"""TCL150: communication that Dynamo cannot trace."""

from __future__ import annotations

from typing import Final

from tclint.diagnostics import Advice, Effect
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.torch_facts import measured

from .facts import NAMES, PACKAGE, collective, short_name

_RAISING_SINCE: Final = (2, 12)
_BROKE: Final = ("GB0150",)
"""What collectives of objects did before."""


class CollectiveInRegion(Rule[Call]):
    """A call of `torch.distributed` that Dynamo cannot trace."""

    code = "TCL150"
    name = "collective-in-region"
    summary = "A `torch.distributed` call that Dynamo cannot trace breaks the graph"
    instead = (
        "Use a form that is traced (`all_reduce`, `all_gather_into_tensor`, "
        "`reduce_scatter_tensor`, `all_to_all_single`), or call it between two compiled "
        "functions"
    )
    on = Call
    called = NAMES
    effects = (Effect.GRAPH_BREAK, Effect.INVALID)
    gb_ids = ("GB0007", "GB0088", "GB1750", "GB2696", "GB9300")

    def check(self, event: Call) -> Finding | None:
        """Look the function up among those that were measured."""
        found = collective(event.function)
        if found is None:
            return None
        name, target = short_name(event.function), event.site.settings.target_torch
        told = measured(f"{PACKAGE}{name}", target)
        raises = not found.gb_ids and target >= _RAISING_SINCE
        if raises:
            message = f"Compiling `{name}` raises an internal error of Dynamo"
        else:
            message = f"`{name}` breaks the graph"
        return Finding(
            message,
            fix=Advice(found.advice),
            effect=Effect.INVALID if raises else None,
            gb_ids=(told.gb_id,) if told else found.gb_ids or (() if raises else _BROKE),
            before=told.until if told else None,
        )
