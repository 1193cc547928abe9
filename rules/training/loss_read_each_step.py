"""TCL511: a running loss that reads the device in every step."""

from __future__ import annotations

import ast

from tclint.diagnostics import Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.syntax import start_of
from tclint.semantics.training import StepBody

from ..lib.facts.copies import copied
from ..lib.facts.devices import may_be_on_gpu
from ..lib.facts.training_loops import differentiated, runs_every_time


class LossReadEachStep(Rule[TrainingCall]):
    """A training loop sums up its losses and reads each one with `.item()`."""

    code = "TCL511"
    name = "loss-read-each-step"
    summary = "`total += loss.item()` waits for the device in every step"
    instead = "Add up a detached tensor on the device, and read it after the epoch"
    worth = Worth.HINT
    measured = "nothing measurable in 4 cases (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for a read on the right of `+=`."""
        site, statement, call = event.site, event.site.statement, event.call
        match statement, call:
            case (
                ast.AugAssign(op=ast.Add(), value=value),
                ast.Call(func=ast.Attribute(attr="item", value=read), args=[]),
            ):
                loss = copied(site, read)
            case _:
                return None
        if not event.each_step or not runs_every_time(site, call, event.loop):
            return None
        if not isinstance(loss, ast.Name) or not _is_differentiated(event.loop, loss.id):
            return None
        if may_be_on_gpu(site) and any(
            start_of(call) < start_of(backward) for backward, _ in differentiated(event.loop)
        ):
            return None  # another rule says what it costs there
        return Finding(
            f"`{site.text(call)}` makes the CPU wait in every step",
            fix=_repair(event, statement.target, value is call, loss),
            confidence=Confidence.MEDIUM,
        )


def _is_differentiated(loop: StepBody, name: str) -> bool:
    """True when the loop calls ``name.backward()``, or hands it to something that is called so."""
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(attr="backward", value=owner)):
                if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(owner)):
                    return True
            case ast.Call(func=ast.Attribute(attr="backward"), args=[ast.Name(id=given), *_]):
                if given == name:
                    return True
    return False


def _repair(event: TrainingCall, total: ast.expr, whole: bool, loss: ast.Name) -> Repair | Decline:
    if not whole:
        return Decline("the read is part of a larger expression")
    name = total.id if isinstance(total, ast.Name) else ""
    starts = [event.site.parent(store) for store in event.site.stores(name)]
    if not any(map(_is_zero, starts)) or not all(
        _is_zero(start) or start is event.site.statement for start in starts
    ):
        return Decline("the sum does not start as a number here, so it may be on another device")
    return Repair(
        "Add up on the device",
        (Replace(event.call, "$loss.detach()", {"loss": loss}),),
        Change.BEHAVIOUR,
        changes="the sum is a 0-d tensor of the loss's dtype; read it where it is shown",
    )


def _is_zero(node: ast.AST | None) -> bool:
    match node:
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=int() | float())):
            return True
    return False
