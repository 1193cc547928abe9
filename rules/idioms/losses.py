"""Is this formula a cross-entropy: the log-probability of each row's class, averaged?"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.records import record
from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

from .operations import Operation, operation, same
from .picked import picked_rows
from .straight import definitions, is_one_value, value_of


@record(frozen=True)
class Loss:
    """``whole`` is the cross-entropy of ``logits`` and ``target``; ``parts`` made it up."""

    whole: ast.expr
    logits: ast.expr
    target: ast.expr
    weight: ast.expr | None
    parts: tuple[ast.expr, ...]

    def assignments(self, site: Site) -> Iterator[ast.Assign]:
        """The statements that compute the parts."""
        return definitions(site, *self.parts)


def loss(site: Site, node: ast.AST) -> Loss | None:
    """The cross-entropy that a `mean` or a `sum` is the heart of."""
    found = operation(site, node, "mean", "sum")
    if found is None or not found.takes_only(0):
        return None
    made = _mean_loss(site, found) if found.name == "mean" else _weighted_loss(site, found)
    if made is None or (made.weight is not None and _learns(site, made.weight)):
        return None
    return made if _is_one_target(site, made) else None


def _learns(site: Site, weight: ast.expr) -> bool:
    """True for a parameter: `F.cross_entropy` has no gradient for its weights."""
    value = site.value(weight)
    return isinstance(value, Tensor) and value.role == "parameter"


def _is_one_target(site: Site, made: Loss) -> bool:
    return is_one_value(site, made.target, made.parts, made.whole)


def _mean_loss(site: Site, mean: Operation) -> Loss | None:
    """``-log_softmax(logits)[rows, target].mean()``."""
    stored, flips = _unsigned(mean.subject)
    inner, negated = _unsigned(value_of(site, stored))
    whole, more = _outer_sign(site, mean.node)
    picked = picked_rows(site, inner)
    if picked is None or flips + negated + more != 1:
        return None
    return Loss(whole, picked.logits, picked.target, None, (stored, inner, *picked.parts))


def _weighted_loss(site: Site, total: Operation) -> Loss | None:
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
        picked = picked_rows(site, log)
        weight = value_of(site, right)
        if picked is None or not isinstance(weight, ast.Subscript):
            continue
        if not same(right, divisor.subject):
            continue
        if same(weight.slice, picked.target) and (flips + more + negated + flipped) == 1:
            parts = (inner, log, right, *picked.parts)
            return Loss(whole, picked.logits, picked.target, weight.value, parts)
    return None


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
