"""Formulas as products and sums: what they are made of, however they are written."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Final

from tclint.records import record
from tclint.semantics.site import Site

_NAMED: Final = {"math.pi": math.pi, "numpy.pi": math.pi, "torch.pi": math.pi}
_ROOTS: Final = frozenset({"math.sqrt", "numpy.sqrt"})
_COMPUTED: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: math.pow,
}


def number(site: Site, node: ast.expr) -> float | None:
    """The number that an expression of constants gives, with `math.sqrt` and `math.pi`."""
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value)
    if isinstance(node, ast.Attribute):
        return _NAMED.get(site.dotted(node) or "")
    try:
        return _computed(site, node)
    except (ArithmeticError, ValueError):
        return None


def _computed(site: Site, node: ast.expr) -> float | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = number(site, node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTED:
        left, right = number(site, node.left), number(site, node.right)
        if left is None or right is None:
            return None
        return _COMPUTED[type(node.op)](left, right)
    if isinstance(node, ast.Call) and site.dotted(node.func) in _ROOTS and len(node.args) == 1:
        inner = number(site, node.args[0])
        return None if inner is None else math.sqrt(inner)
    return None


@record(frozen=True)
class Product:
    """A number times some factors."""

    number: float
    factors: tuple[ast.expr, ...]

    def is_close(self, expected: float) -> bool:
        """True when the number is this one, as far as people write it out."""
        return math.isclose(self.number, expected, rel_tol=1e-4)


def product(site: Site, node: ast.expr) -> Product:
    """The factors of an expression, its numbers multiplied."""
    known = number(site, node)
    if known is not None:
        return Product(known, ())
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = product(site, node.left), product(site, node.right)
        return Product(left.number * right.number, left.factors + right.factors)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        divisor = number(site, node.right)
        if divisor:
            inner = product(site, node.left)
            return Product(inner.number / divisor, inner.factors)
    return Product(1.0, (node,))


def sum_with_one(site: Site, node: ast.expr) -> ast.expr | None:
    """``y`` of ``1 + y`` and ``y + 1``."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Add):
        return None
    if number(site, node.left) == 1.0:
        return node.right
    return node.left if number(site, node.right) == 1.0 else None


def whole_product(site: Site, node: ast.expr) -> ast.expr:
    """The greatest product, or quotient by a number, that ``node`` is a factor of."""
    while True:
        outer = site.parent(node)
        if not isinstance(outer, ast.BinOp):
            return node
        divided = isinstance(outer.op, ast.Div) and outer.left is node
        if not isinstance(outer.op, ast.Mult) and not (
            divided and number(site, outer.right) is not None
        ):
            return node
        node = outer
