"""TCL335: a training step waits for its forward pass before it starts the backward pass."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tclint.diagnostics import Applicability, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Insert, Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import TrainingCall
from tclint.semantics.syntax import nodes

from ..lib.facts.early_reads import read_before_backward
from ..lib.facts.training_loops import called, is_test


class ReadBeforeBackward(Rule[TrainingCall]):
    """A training step reads its loss, or what the model gave, before it calls `backward()`."""

    code = "TCL335"
    name = "read-before-backward"
    summary = "A read between the forward and the backward pass leaves the device idle"
    worth = Worth.LOW
    measured = "4% to 6% of an eager training step, nothing measurable of a compiled one (H200)"
    on = TrainingCall
    effects = (Effect.HOST_SYNC,)
    outside_regions = True

    def check(self, event: TrainingCall) -> Finding | None:
        """Look for the first read of each step, at its first `backward()`."""
        if not event.each_step or is_test(event.site, event.loop):
            return None
        read = read_before_backward(event)
        if read is None:
            return None
        return Finding(
            f"`{event.site.text(read)}` makes the CPU wait for the forward pass before it can "
            "launch the backward pass, and the device has nothing to do meanwhile",
            _repair(event, read),
            node=read,
            confidence=Confidence.MEDIUM,
        )


def _repair(event: TrainingCall, read: ast.expr) -> Repair | Decline:
    """Move the statement behind the one that steps the optimizer."""
    body, statement = event.loop.body, event.site.parent(read)
    if statement not in body or not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return Decline(
            "read it after the optimizer's step; what decides about the step, keep as a "
            "tensor and read it every few steps"
        )
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    start = body.index(statement)
    end = max((k for k, one in enumerate(body) if _steps(one)), default=start)
    between = body[start + 1 : end + 1]
    kept = {n.id for n in ast.walk(read) if isinstance(n, ast.Name)}
    if not isinstance(target, ast.Name) or end == start or _needs(between, target.id, kept):
        return Decline("what is read is used, or changed, before the optimizer's step")
    return Repair(
        "Read it after the step",
        (
            Replace(statement, ""),
            Insert(body[end], "$statement", {"statement": statement}, after=True),
        ),
        Applicability.UNSAFE,
        changes="it is not read where an exception ends the step before",
    )


def _steps(statement: ast.stmt) -> bool:
    return any(called(node) in ("backward", "step", "update") for node in nodes(statement))


def _needs(between: Sequence[ast.stmt], target: str, read: set[str]) -> bool:
    """True where statements use what is read, bind or change what it is read from, or leave."""
    for node in (n for statement in between for n in nodes(statement)):
        match node:
            case ast.Name(id=name) if name == target:
                return True
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if name in read:
                return True
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in read:
                if attribute.endswith("_"):
                    return True
            case ast.Break() | ast.Continue() | ast.Return():
                return True
    return False
