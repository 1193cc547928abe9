"""TCL604: GELU and SiLU written as formulas."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import Final

from tclint.diagnostics import Change, Confidence, Effect, Worth
from tclint.lint.rule import Finding, Rule
from tclint.semantics.events import Call
from tclint.semantics.site import Site

from ..lib.judge.verdict import Changes
from .formulas import Product, number, product, sum_with_one, whole_product
from .operations import Operation, is_repeatable, operation, same
from .replacing import replaced

_TANH: Final = math.sqrt(2 / math.pi)
_CUBIC: Final = 0.044715
_Activation = tuple[str, ast.expr, ast.expr, Mapping[str, ast.expr | str]]
_CHANGES: Final = Changes(
    "results differ in their last bits; float16 and bfloat16 are rounded once instead of in each "
    "step",
    Change.PRECISION,
)


class ActivationByHand(Rule[Call]):
    """GELU or SiLU written out as a formula."""

    code = "TCL604"
    name = "activation-by-hand"
    summary = "A formula for GELU or SiLU takes several kernels in eager code"
    instead = "Use torch's function for it, such as `F.gelu`"
    worth = Worth.LOW
    measured = "nothing in compiled code; in eager code half the time or more (H200)"
    on = Call
    called = ("sigmoid", "erf", "tanh")
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at the product around `sigmoid`, `erf` and `tanh`."""
        found = _activation(event.site, event.node)
        if found is None:
            return None
        name, whole, x, more = found
        if f".{name}" in event.site.module.file.text:
            return None  # the author knows both, and chose
        return Finding(
            f"This formula is `F.{name}`: eager code runs a kernel for each of its operators",
            replaced(
                event.site,
                whole,
                f"torch.nn.functional.{name}",
                {"x": x, **more},
                _CHANGES,
                keeps=[x] if name == "gelu" and not more else [],
            ),
            node=whole,
            confidence=Confidence.LOW,
        )


def _activation(site: Site, node: ast.AST) -> _Activation | None:
    """The operator's name, the product it stands for, its operand, and its other arguments."""
    called = operation(site, node, "sigmoid", "erf", "tanh")
    if called is None or not called.takes_only(0):
        return None
    return _silu(site, called) if called.name == "sigmoid" else _gelu(site, called)


def _silu(site: Site, sigmoid: Operation) -> _Activation | None:
    outer = site.parent(sigmoid.node)
    if not isinstance(outer, ast.BinOp) or not isinstance(outer.op, ast.Mult):
        return None
    other = outer.left if outer.right is sigmoid.node else outer.right
    if not same(other, sigmoid.subject) or not is_repeatable(other):
        return None
    return "silu", outer, other, {}


def _gelu(site: Site, called: Operation) -> _Activation | None:
    summed = site.parent(called.node)
    if not isinstance(summed, ast.BinOp) or sum_with_one(site, summed) is not called.node:
        return None
    whole = whole_product(site, summed)
    found = product(site, whole)
    others = [factor for factor in found.factors if factor is not summed]
    if not found.is_close(0.5) or len(others) != 1 or not is_repeatable(others[0]):
        return None
    x = others[0]
    if called.name == "erf":
        inner = product(site, called.subject)
        root = _over_root_of_two(site, inner, x)
        return ("gelu", whole, x, {}) if root else None
    if _is_tanh_argument(site, product(site, called.subject), x):
        return "gelu", whole, x, {"approximate": "'tanh'"}
    return None


def _over_root_of_two(site: Site, inner: Product, x: ast.expr) -> bool:
    return inner.is_close(math.sqrt(0.5)) and _is_power(site, inner, x, 1)


def _is_power(site: Site, found: Product, x: ast.expr, exponent: int) -> bool:
    total = 0.0
    for factor in found.factors:
        degree = _degree(site, factor, x)
        if degree is None:
            return False
        total += degree
    return total == exponent


def _degree(site: Site, node: ast.expr, x: ast.expr) -> float | None:
    if same(node, x):
        return 1.0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and same(node.left, x):
        return number(site, node.right)
    power = operation(site, node, "pow", "square")
    if power is None or not same(power.subject, x):
        return None
    if power.name == "square":
        return 2.0
    exponent = power.argument(0, "exponent")
    return None if exponent is None else number(site, exponent)


def _is_tanh_argument(site: Site, inner: Product, x: ast.expr) -> bool:
    """``sqrt(2 / pi) * (x + 0.044715 * x ** 3)``, or with one ``x`` outside of the sum."""
    if not inner.is_close(_TANH):
        return False
    sums = [f for f in inner.factors if isinstance(f, ast.BinOp) and isinstance(f.op, ast.Add)]
    rest = tuple(factor for factor in inner.factors if factor not in sums)
    if len(sums) != 1 or not isinstance(sums[0], ast.BinOp):
        return False
    outside = len(rest)
    if not _is_power(site, Product(1.0, rest), x, outside) or outside > 1:
        return False
    terms = [product(site, sums[0].left), product(site, sums[0].right)]
    terms.sort(key=lambda term: term.number, reverse=True)
    return (
        terms[0].is_close(1.0)
        and _is_power(site, terms[0], x, 1 - outside)
        and terms[1].is_close(_CUBIC)
        and _is_power(site, terms[1], x, 3 - outside)
    )
