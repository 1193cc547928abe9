"""Learning rates that a tensor in the constructor does not replace."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Replace
from tclint.semantics.events import LrChange, OptimizerInit
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Static
from tclint.torch_facts import lr_schedulers

from .groups import written_groups


def group_rates(event: OptimizerInit) -> list[ast.expr] | Decline:
    """The float rates written in groups, which the optimizer's own rate does not replace."""
    given = event.call.args[0] if event.call.args else event.keywords.get("params")
    groups, others = written_groups(event.site, given)
    rates = [rate for group in groups for rate in _rates(group)]
    if rates and others:
        name = event.site.text(others[0])
        return Decline(f"`{name}` is read elsewhere too, where its learning rates may be set")
    for rate in rates:
        kinds = list(options(event.site.value(rate)))
        if not all(isinstance(kind, Static) and kind.type in ("float", "int") for kind in kinds):
            return Decline(f"the group's `{event.site.text(rate)}` is not known to be a number")
    return rates


def as_tensor(site: Site, tensor: str, rate: ast.expr) -> Replace | Decline:
    """A float tensor of a rate: one of an integer would round all that is written into it."""
    if isinstance(rate, ast.Constant) and isinstance(rate.value, int):
        return Replace(rate, f"{tensor}({float(rate.value)})")
    if any(isinstance(k, Static) and k.type == "int" for k in options(site.value(rate))):
        return Decline(f"`{site.text(rate)}` may be an integer, and a tensor of it holds no others")
    return Replace(rate, f"{tensor}($lr)", {"lr": rate})


def _rates(group: ast.expr) -> Iterator[ast.expr]:
    match group:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "lr":
                    yield value
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            yield from (keyword.value for keyword in keywords if keyword.arg == "lr")


def puts_floats_back(change: LrChange) -> str | None:
    """Why a tensor would not stay, or not be enough."""
    name = change.name.rpartition(".")[2]
    scheduler = lr_schedulers().get(f"torch.optim.lr_scheduler.{name}")
    if scheduler is not None:
        written = ", ".join(scheduler.writes)
        why = f"`{scheduler.name}` writes floats ({written}) on every step, so it recompiles anyway"
        return why if scheduler.writes_floats else None
    return None
