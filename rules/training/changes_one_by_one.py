"""TCL522: the tensors of a model are changed in place, one after the other, in every step."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Final

from tclint.diagnostics import Advice, Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.regexes import regex
from tclint.semantics.events import ParameterLoop
from tclint.semantics.site import Site
from tclint.semantics.syntax import names_in

from ..lib.facts.tensor_lists import Names, is_over_tensors, loop_names
from ..lib.facts.training_loops import runs_every_time

_TOGETHER: Final = frozenset({"zero_", "copy_", "mul_", "div_", "add_", "sub_", "clamp_"})
_HALVES: Final = {"clamp_": "clamp_min_` and `torch._foreach_clamp_max_"}
_OPERATORS: Final = {ast.Mult: "mul_", ast.Div: "div_", ast.Add: "add_", ast.Sub: "sub_"}
# Functions of such names are called in every step.
_OF_EACH_STEP: Final = regex(r"zero_?grad|master|unscale|scale_grad|optimi[sz]e", re.IGNORECASE)


class ChangesOneByOne(Rule[ParameterLoop]):
    """A training step changes each parameter, or each gradient, with a kernel of its own."""

    code = "TCL522"
    name = "changes-one-by-one"
    summary = "A training step launches a kernel for each parameter that it changes"
    instead = "Change all tensors at once with the `torch._foreach_*` function of that name"
    worth = Worth.MEDIUM
    measured = "8% to 14% of a training step in 5 of 8 cases (H200)"
    on = ParameterLoop
    effects = (Effect.LAUNCH_OVERHEAD,)
    outside_regions = True

    def check(self, event: ParameterLoop) -> Finding | None:
        """Look for a loop that does nothing but change tensors of modules in place."""
        site, loop = event.site, event.loop
        names = loop_names(loop)
        if not isinstance(loop, ast.For) or names is None or not is_over_tensors(site, loop.iter):
            return None
        confidence = _confidence(event)
        changed = _changed(_innermost(loop.body), names)
        if confidence is None or changed is None:
            return None
        return Finding(
            "Each tensor is changed by a kernel of its own: "
            f"`torch._foreach_{_HALVES.get(changed, changed)}` changes all of them at once",
            _repair(site, loop, changed),
            confidence=confidence,
        )


def _confidence(event: ParameterLoop) -> Confidence | None:
    """High in a step, medium in a function that has the name of a part of one."""
    if event.body is not None and runs_every_time(event.site, event.loop, event.body):
        return Confidence.HIGH
    info = event.site.body.function
    return Confidence.MEDIUM if info and _OF_EACH_STEP.search(info.name) else None


def _innermost(statements: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """What is done for each tensor, below `with` and `if`."""
    match statements:
        case [ast.With(body=body) | ast.If(body=body, orelse=[])]:
            return _innermost(body)
    return statements


def _changed(statements: Sequence[ast.stmt], names: Names) -> str | None:
    """The one operation that the statements do in place; None if they do more, or another."""
    done: str | None = None
    for statement in statements:
        operation = _operation(statement)
        if operation is None or (done is not None and operation[0] != "detach_"):
            return None
        if names.bound.isdisjoint(names_in(operation[1])):
            return None
        done = done if operation[0] == "detach_" else operation[0]
    return done


def _operation(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """What a statement does in place, and to what."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr="detach_"), args=[])):
            return "detach_", owner
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name), args=args)):
            known = name in _TOGETHER and all(map(_is_plain, [owner, *args]))
            return (name, owner) if known else None
        case ast.AugAssign(
            target=ast.Attribute(attr="grad" | "data") as target, op=op, value=value
        ):
            name = _OPERATORS.get(type(op), "")
            return (name, target) if name and _is_plain(value) else None
        case ast.AugAssign(target=ast.Name() as target, op=ast.Sub(), value=value):
            return ("sub_", target) if _is_scaled_gradient(value) else None
    return None


def _is_plain(node: ast.expr) -> bool:
    """True for what is computed for no tensor apart."""
    match node:
        case ast.Name() | ast.Constant():
            return True
        case ast.Attribute(value=inner) | ast.UnaryOp(operand=inner):
            return _is_plain(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="detach"), args=[], keywords=[]):
            return _is_plain(inner)
        case ast.BinOp(left=left, right=right):
            return all(isinstance(part, (ast.Constant, ast.Name)) for part in (left, right))
    return False


def _is_scaled_gradient(node: ast.expr) -> bool:
    """True for ``rate * p.grad``."""
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            gradients = [
                p for p in (left, right) if isinstance(p, ast.Attribute) and p.attr == "grad"
            ]
            return len(gradients) == 1 and all(map(_is_plain, (left, right)))
    return False


def _repair(site: Site, loop: ast.For, changed: str) -> Repair | Decline:
    """Gradients that are filled with zeros can be dropped; the rest is for the author to write."""
    statements = _innermost(loop.body)
    operation = _operation(statements[-1])
    if changed != "zero_" or operation is None:
        return Advice(
            "collect the tensors in lists and change those with "
            f"`torch._foreach_{_HALVES.get(changed, changed)}`, which raises for empty lists"
        )
    gradient = operation[1]
    if isinstance(gradient, ast.Attribute) and gradient.attr == "data":
        gradient = gradient.value
    if isinstance(gradient, ast.Attribute) and gradient.attr == "grad":
        dropped = Replace(statements[-1], f"{site.text(gradient)} = None")
        rest = [Replace(statement, "") for statement in statements[:-1]]
        return Repair(
            "Drop the gradients",
            (*rest, dropped),
            Change.BEHAVIOUR,
            changes="gradients are None until the next backward pass",
        )
    return Advice(
        "these are not gradients, so the zeros may be read: write them with `torch._foreach_zero_`"
    )
