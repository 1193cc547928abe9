"""TCL501: a float learning rate that changes under a compiled step."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule, SpentIn
from tclint.semantics.events import LrChange, OptimizerInit
from tclint.semantics.lattice import is_number, options
from tclint.semantics.site import Site
from tclint.semantics.values import UNKNOWN, Static
from tclint.torch_facts import lr_schedulers, optimizers

_CHANGES = (
    "parameters come out close, not bit-identical, and eager steps get slower unless `fused=True`"
)
NEEDS_CAPTURABLE = frozenset({"torch.optim.Adam", "torch.optim.AdamW"})
_WRITTEN: Final = (
    "make the learning rate a tensor, one for each group, and fill it: `group['lr'].fill_(value)`"
)
_GROUPS: Final = "make the learning rate of each group a tensor: `'lr': torch.tensor(1e-3)`"


class FloatLrInCompiledStep(Rule[OptimizerInit]):
    """A float learning rate that changes between calls of a compiled step."""

    code = "TCL501"
    name = "float-lr-in-compiled-step"
    summary = "A float learning rate that changes recompiles a compiled step"
    instead = "Make the learning rate a tensor: `lr=torch.tensor(1e-3)`"
    worth = Worth.HIGH
    measured = "0.4 ms of an optimizer step of 0.5 ms, and 8 compiles (H200)"
    on = OptimizerInit
    spent_in = SpentIn.OPTIMIZER
    effects = (Effect.RECOMPILE,)
    outside_regions = True

    def check(self, event: OptimizerInit) -> Finding | None:
        """Report compiled steps whose float learning rate something changes."""
        if not event.compiled_step or not event.lr_changes or _is(event, "fused"):
            return None
        sure = event.lr is None or is_number(event.lr_value, "float", "int")
        if not sure and not _may_be_number(event):
            return None
        change = event.lr_changes[0].name.rpartition(".")[2]
        return Finding(
            f"`{change}` changes the float learning rate of a compiled step: it recompiles",
            fix=_repair(event),
            confidence=None if sure else Confidence.MEDIUM,
        )


def _is(event: OptimizerInit, keyword: str) -> bool:
    node = event.keywords.get(keyword)
    return isinstance(node, ast.Constant) and node.value is True


def _may_be_number(event: OptimizerInit) -> bool:
    """True for a setting of the program that is not known: ``args.lr``, ``config["lr"]``."""
    kinds = options(event.lr_value)
    known = all(kind is UNKNOWN or isinstance(kind, Static) for kind in kinds)
    return known and isinstance(event.lr, (ast.Attribute, ast.Subscript, ast.Name))


def _repair(event: OptimizerInit) -> Repair | Decline:
    facts = optimizers().get(event.optimizer)
    if facts is None or not facts.tensor_lr:
        return Decline(f"`{event.optimizer}` is not known to take a tensor as learning rate")
    if event.lr is None:
        return Decline("the learning rate is the default; write it out first")
    raises = _is(event, "foreach") and not _is(event, "capturable")
    if raises and event.optimizer in NEEDS_CAPTURABLE:
        return Decline(
            "with `foreach=True` a tensor learning rate raises without `capturable=True`"
        )
    if not is_number(event.lr_value, "float", "int"):
        return Decline(f"`{event.site.text(event.lr)}` is not known to be a float")
    obstacle = next(filter(None, map(_puts_floats_back, event.lr_changes)), None)
    if obstacle:
        return Decline(obstacle)
    if any(change.kind == "write" for change in event.lr_changes):
        return Advice(_WRITTEN)
    match event.call.args[0] if event.call.args else event.keywords.get("params"):
        case ast.Call(func=ast.Attribute(attr="parameters"), args=[]):
            pass
        case _:
            return Advice(_GROUPS)
    tensor = event.site.spell("torch.tensor")
    if tensor is None:
        return Decline("the file does not import torch")
    rewrite = _as_tensor(event.site, tensor, event.lr)
    if isinstance(rewrite, Decline):
        return rewrite
    return Repair("Make the learning rate a tensor", (rewrite,), Change.BEHAVIOUR, changes=_CHANGES)


def _puts_floats_back(change: LrChange) -> str | None:
    """Why a tensor would not stay, or not be enough."""
    name = change.name.rpartition(".")[2]
    scheduler = lr_schedulers().get(f"torch.optim.lr_scheduler.{name}")
    if scheduler is not None:
        written = ", ".join(scheduler.writes)
        why = f"`{scheduler.name}` writes floats ({written}) on every step, so it recompiles anyway"
        return why if scheduler.writes_floats else None
    if change.kind == "scheduler":
        return f"`{name}` may write a float over the tensor"
    return None


def _as_tensor(site: Site, tensor: str, rate: ast.expr) -> Replace | Decline:
    """A float tensor of a rate: one of an integer would round all that is written into it."""
    if isinstance(rate, ast.Constant) and isinstance(rate.value, int):
        return Replace(rate, f"{tensor}({float(rate.value)})")
    if any(isinstance(k, Static) and k.type == "int" for k in options(site.value(rate))):
        return Decline(
            f"`{site.text(rate)}` may be an integer, and an integer tensor would round later rates"
        )
    return Replace(rate, f"{tensor}($lr)", {"lr": rate})
