"""TCL607: a cross-entropy written by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.diagnostics import Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair, Replace
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import Call
from tclint.semantics.site import Site
from tclint.semantics.syntax import names_in
from tclint.semantics.values import Tensor

from ..lib.facts.fallbacks import KEPT, is_fallback
from ..lib.judge.verdict import Changes
from ..lib.rewrite.proved import NO_TORCH, repair_as_proved
from .def_use import definitions, is_one_value, reaches, removing, unused_without, value_of
from .operations import Operation, operation, same

_CHANGES: Final = Changes(
    "the last bits differ; class -100 is ignored and other negative classes raise, where an index "
    "counted them from the end; classes must be int64, and weights have the logits' dtype and no "
    "gradient"
)
_FUNCTION: Final = "torch.nn.functional.cross_entropy"
_COUNTERS: Final = ("range", "torch.arange")


class CrossEntropyByHand(Rule[Call]):
    """Cross-entropy written by hand."""

    code = "TCL607"
    name = "cross-entropy-by-hand"
    summary = "Picking log-probabilities by index takes many kernels; `cross_entropy` takes two"
    instead = "Use `F.cross_entropy`"
    worth = Worth.LOW
    measured = "0.33 ms for 4,096 rows (H200)"
    on = Call
    called = ("mean", "sum")
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at averages, and at sums divided by a sum."""
        found = _loss(event.site, event.node)
        if found is None:
            return None
        return Finding(
            "A cross-entropy by hand: a kernel for each operator; `F.cross_entropy` takes two",
            _repair(event, found),
            node=found.whole,
            confidence=Confidence.MEDIUM,
        )


@record(frozen=True)
class _Loss:
    """``whole`` is the cross-entropy of ``logits`` and ``target``; ``parts`` made it up."""

    whole: ast.expr
    logits: ast.expr
    target: ast.expr
    weight: ast.expr | None
    parts: tuple[ast.expr, ...]

    def assignments(self, site: Site) -> Iterator[ast.Assign]:
        """The statements that compute the parts."""
        return definitions(site, *self.parts)


def _loss(site: Site, node: ast.AST) -> _Loss | None:
    """The cross-entropy that a `mean` or a `sum` is the heart of."""
    found = operation(site, node, "mean", "sum")
    if found is None or not found.takes_only(0):
        return None
    made = _mean_loss(site, found) if found.name == "mean" else _weighted_loss(site, found)
    if made is None or (made.weight is not None and _learns(site, made.weight)):
        return None
    return made if _is_one_target(site, made) else None


def _mean_loss(site: Site, mean: Operation) -> _Loss | None:
    """``-log_softmax(logits)[rows, target].mean()``."""
    stored, flips = _unsigned(mean.subject)
    inner, negated = _unsigned(value_of(site, stored))
    whole, more = _outer_sign(site, mean.node)
    picked = _picked_rows(site, inner)
    if picked is None or flips + negated + more != 1:
        return None
    return _Loss(whole, picked.logits, picked.target, None, (stored, inner, *picked.parts))


def _unsigned(node: ast.expr) -> tuple[ast.expr, int]:
    flips = 0
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, flips = node.operand, flips + 1
    return node, flips


def _outer_sign(site: Site, node: ast.expr) -> tuple[ast.expr, int]:
    outer = site.parent(node)
    if isinstance(outer, ast.UnaryOp) and isinstance(outer.op, ast.USub):
        return outer, 1
    return node, 0


@record(frozen=True)
class _Picked:
    """The log-probabilities of the classes ``target``; ``parts`` are what they were made of."""

    logits: ast.expr
    target: ast.expr
    parts: tuple[ast.expr, ...]


def _picked_rows(site: Site, node: ast.expr) -> _Picked | None:
    """``log_softmax(logits, dim=1)[range(n), target]``, or the same with ``gather``."""
    found = value_of(site, node)
    gathered = operation(site, found, "gather")
    if gathered is not None:
        return _gathered(site, gathered)
    if not isinstance(found, ast.Subscript) or not isinstance(found.slice, ast.Tuple):
        return None
    if len(found.slice.elts) != 2 or not isinstance(found.ctx, ast.Load):
        return None
    rows, target = found.slice.elts
    length = _length(site, rows)
    logits = _logits(site, found.value)
    if length is None or logits is None or isinstance(target, (ast.Constant, ast.Slice)):
        return None
    return _Picked(logits, target, (found.value, length))


def _gathered(site: Site, gathered: Operation) -> _Picked | None:
    dim, index = gathered.argument(0, "dim"), gathered.argument(1, "index")
    logits = _logits(site, gathered.subject)
    if index is None or logits is None or not isinstance(dim, ast.Constant) or dim.value != 1:
        return None
    column = value_of(site, index)
    target = _of_column(site, column)
    return None if target is None else _Picked(logits, target, (gathered.subject, index))


def _logits(site: Site, node: ast.expr) -> ast.expr | None:
    log = operation(site, value_of(site, node), "log_softmax")
    if log is None or not log.takes_only(1, "dim", "axis"):
        return None
    dim = log.argument(0, "dim", "axis")
    known = site.value(log.subject)
    rank = known.rank if isinstance(known, Tensor) else None
    text = ast.unparse(dim) if dim is not None else ""
    return log.subject if text == "1" or (text == "-1" and rank == 2) else None


def _of_column(site: Site, node: ast.expr) -> ast.expr | None:
    """``target`` of ``target.unsqueeze(1)``, ``target[:, None]`` and ``target.view(-1, 1)``."""
    match node:
        case ast.Subscript(value=target, slice=ast.Tuple(elts=[ast.Slice(None, None, None), last])):
            return target if isinstance(last, ast.Constant) and last.value is None else None
    found = operation(site, node, "unsqueeze", "view", "reshape")
    if found is None:
        return None
    sizes = [ast.unparse(part) for part in found.rest]
    wanted = (["1"], ["-1"]) if found.name == "unsqueeze" else (["-1", "1"],)
    return found.subject if sizes in wanted else None


def _length(site: Site, node: ast.expr) -> ast.expr | None:
    """The length in ``range(n)``, ``list(range(n))`` and ``torch.arange(n)``, if it is a size."""
    call = value_of(site, node)
    if isinstance(call, ast.Call) and site.dotted(call.func) == "list" and len(call.args) == 1:
        call = call.args[0]
    if not isinstance(call, ast.Call) or site.dotted(call.func) not in _COUNTERS:
        return None
    if len(call.args) != 1:
        return None
    return call.args[0] if _is_size(value_of(site, call.args[0])) else None


def _is_size(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return text.endswith((".shape[0]", ".size(0)")) or text.startswith("len(")


def _weighted_loss(site: Site, total: Operation) -> _Loss | None:
    """``-(weight[target] * log_softmax(logits)[rows, target]).sum() / weight[target].sum()``."""
    numerator, flips = _outer_sign(site, total.node)
    quotient = site.parent(numerator)
    if not isinstance(quotient, ast.BinOp) or quotient.left is not numerator:
        return None
    divisor = operation(site, quotient.right, "sum")
    if not isinstance(quotient.op, ast.Div) or divisor is None or not divisor.takes_only(0):
        return None
    whole, more = _outer_sign(site, quotient)
    inner, negated = _unsigned(total.subject)
    product = value_of(site, inner)
    if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
        return None
    for left, right in ((product.left, product.right), (product.right, product.left)):
        log, flipped = _unsigned(left)
        picked = _picked_rows(site, log)
        weight = value_of(site, right)
        if picked is None or not isinstance(weight, ast.Subscript):
            continue
        if not same(right, divisor.subject):
            continue
        if same(weight.slice, picked.target) and (flips + more + negated + flipped) == 1:
            parts = (inner, log, right, *picked.parts)
            return _Loss(whole, picked.logits, picked.target, weight.value, parts)
    return None


def _learns(site: Site, weight: ast.expr) -> bool:
    """True for a parameter: `F.cross_entropy` has no gradient for its weights."""
    value = site.value(weight)
    return isinstance(value, Tensor) and value.role == "parameter"


def _is_one_target(site: Site, made: _Loss) -> bool:
    return is_one_value(site, made.target, made.parts, made.whole)


def _repair(event: Call, found: _Loss) -> Repair | Decline:
    site = event.site
    arguments = {"x": found.logits, "target": found.target}
    if found.weight is not None:
        arguments["weight"] = found.weight
    needed = names_in(*arguments.values())
    dropped = unused_without(site, found.whole, found.assignments(site), needed)
    if isinstance(dropped, Decline):
        return dropped
    for part in arguments.values():
        if not reaches(site, part, found.whole, dropped):
            return Decline(f"`{site.text(part)}` changes before the loss is computed")
    spelled = site.spell(_FUNCTION)
    if spelled is None:
        return NO_TORCH
    if is_fallback(site, found.whole, _FUNCTION):
        return Decline(KEPT.format(_FUNCTION))
    weight = ", weight=$weight" if found.weight is not None else ""
    call = Replace(found.whole, f"{spelled}($x, $target{weight})", arguments)
    fix = repair_as_proved(_CHANGES, "Use `F.cross_entropy`", (call,))
    return removing(fix, dropped) if isinstance(fix, Repair) else fix
