"""Learning rates that a tensor in the constructor does not replace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Decline
from tclint.semantics.events import LrChange, OptimizerInit
from tclint.semantics.lattice import options
from tclint.semantics.values import Static
from tclint.torch_api import lr_schedulers


def group_rates(event: OptimizerInit) -> list[ast.expr] | Decline:
    """The float rates written in groups, which the optimizer's own rate does not replace."""
    given = event.call.args[0] if event.call.args else event.keywords.get("params")
    if not isinstance(given, (ast.List, ast.Tuple)):
        return []
    rates = [*_rates(given)]
    for rate in rates:
        kinds = list(options(event.site.value(rate)))
        if not all(isinstance(kind, Static) and kind.type in ("float", "int") for kind in kinds):
            return Decline(f"the group's `{event.site.text(rate)}` is not known to be a number")
    return rates


def _rates(groups: ast.List | ast.Tuple) -> Iterator[ast.expr]:
    for group in groups.elts:
        match group:
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "lr":
                        yield value


def puts_floats_back(change: LrChange) -> str | None:
    """Why a tensor would not stay, or not be enough."""
    name = change.name.rpartition(".")[2]
    scheduler = lr_schedulers().get(f"torch.optim.lr_scheduler.{name}")
    if scheduler is not None:
        written = ", ".join(scheduler.writes)
        why = f"`{scheduler.name}` writes floats ({written}) on every step, so it recompiles anyway"
        return why if scheduler.writes_floats else None
    return "it is also written through `param_groups`, and a float written there would undo it"
