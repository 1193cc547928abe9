"""Is this product or quotient a normalisation over the last dimension?"""

from __future__ import annotations

import ast

from tclint.records import record
from tclint.semantics.lattice import may_be_tensor
from tclint.semantics.site import Site

from .formulas import number
from .operations import is_repeatable, operation, same
from .straight import value_of


@record(frozen=True)
class Norm:
    """``function`` of ``x`` with ``eps`` is what ``whole`` computes; ``parts`` made it up."""

    function: str
    whole: ast.BinOp
    x: ast.expr
    eps: ast.expr
    parts: tuple[ast.expr, ...]


def norm(site: Site, node: ast.AST) -> Norm | None:
    """The normalisation that a square root is the heart of."""
    root = operation(site, node, "rsqrt", "sqrt")
    whole = site.parent(root.node) if root else None
    if root is None or not isinstance(whole, ast.BinOp) or not root.takes_only(0):
        return None
    added = value_of(site, root.subject)
    if not isinstance(added, ast.BinOp) or not isinstance(added.op, ast.Add):
        return None
    variance, eps = added.left, added.right
    if may_be_tensor(site.value(eps)):
        return None
    if root.name == "rsqrt" and isinstance(whole.op, ast.Mult):
        other = whole.left if whole.right is root.node else whole.right
        if is_repeatable(other) and _is_mean_square(site, variance, other):
            return Norm("rms_norm", whole, other, eps, (root.subject, variance))
    elif isinstance(whole.op, ast.Div) and root.name == "sqrt" and whole.right is root.node:
        x = _centred(site, whole.left)
        if x is not None and _is_variance(site, variance, x, whole.left):
            return Norm("layer_norm", whole, x, eps, (root.subject, variance, whole.left))
    return None


def _is_mean_square(site: Site, node: ast.expr, x: ast.expr) -> bool:
    inner = _mean(site, node)
    return inner is not None and _is_square(site, inner, x)


def _is_square(site: Site, node: ast.expr, x: ast.expr) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return same(node.left, x) and same(node.right, x)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
        return same(node.left, x) and number(site, node.right) == 2
    power = operation(site, node, "pow", "square")
    if power is None or not same(power.subject, x):
        return False
    exponent = power.argument(0, "exponent")
    return power.name == "square" or (exponent is not None and number(site, exponent) == 2)


def _mean(site: Site, node: ast.expr) -> ast.expr | None:
    """``y`` of ``y.mean(-1, keepdim=True)``."""
    mean = operation(site, value_of(site, node), "mean")
    if mean is None or not mean.takes_only(2, "dim", "axis", "keepdim"):
        return None
    return (
        mean.subject
        if _over_last(mean.argument(0, "dim", "axis"), mean.argument(1, "keepdim"))
        else None
    )


def _over_last(dim: ast.expr | None, keepdim: ast.expr | None) -> bool:
    last = dim is not None and ast.unparse(dim) in ("-1", "[-1]", "(-1,)")
    return last and isinstance(keepdim, ast.Constant) and keepdim.value is True


def _centred(site: Site, node: ast.expr) -> ast.expr | None:
    """``x`` of ``x - x.mean(-1, keepdim=True)``."""
    found = value_of(site, node)
    if not isinstance(found, ast.BinOp) or not isinstance(found.op, ast.Sub):
        return None
    inner = _mean(site, found.right)
    alike = inner is not None and same(inner, found.left) and is_repeatable(found.left)
    return found.left if alike else None


def _is_variance(site: Site, node: ast.expr, x: ast.expr, centred: ast.expr) -> bool:
    found = value_of(site, node)
    variance = operation(site, found, "var")
    if variance is not None:
        unbiased = variance.named.get("unbiased") or variance.named.get("correction")
        known = unbiased is not None and ast.unparse(unbiased) in ("False", "0")
        kept = _over_last(variance.argument(0, "dim", "axis"), variance.named.get("keepdim"))
        return known and kept and len(variance.rest) < 2 and same(variance.subject, x)
    inner = _mean(site, node)
    if inner is None:
        return False
    squared = value_of(site, inner)
    return any(_is_square(site, squared, part) for part in (centred, value_of(site, centred)))
