"""TCL608: RMS and layer normalization written by hand."""

from __future__ import annotations

import ast
from typing import Final

from tclint.diagnostics import Change, Confidence, Decline, Effect, Worth
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.records import record
from tclint.semantics.events import Call
from tclint.semantics.lattice import may_be_tensor
from tclint.semantics.site import Site

from ..lib.judge.verdict import Changes
from .def_use import is_one_value, reaches, value_of, without_leftovers
from .formulas import number
from .operations import is_repeatable, operation, same
from .replacing import replaced

_CHANGES: Final = Changes(
    "results differ in their last bits; float16 and bfloat16 are computed in float32 and rounded "
    "once",
    Change.PRECISION,
)


class NormByHand(Rule[Call]):
    """RMS or layer normalization over the last dimension, written by hand."""

    code = "TCL608"
    name = "norm-by-hand"
    summary = "A normalization by hand takes several kernels in eager code"
    instead = "Use `F.rms_norm` or `F.layer_norm`"
    worth = Worth.LOW
    measured = "nothing in compiled code; in eager code half the time or more (H200)"
    on = Call
    called = ("sqrt", "rsqrt")
    effects = (Effect.LAUNCH_OVERHEAD,)

    def check(self, event: Call) -> Finding | None:
        """Look at the quotient by a square root."""
        found = _norm(event.site, event.node)
        if found is None or not is_one_value(event.site, found.x, found.parts, found.whole):
            return None
        if event.site.cls is not None and event.site.cls.node.decorator_list:
            return None  # a kernel may take its place
        return Finding(
            f"This formula is `F.{found.function}`: eager code runs a kernel for each of its "
            "operators",
            _repair(event, found),
            node=found.whole,
            confidence=Confidence.LOW,
        )


@record(frozen=True)
class _Norm:
    """``function`` of ``x`` with ``eps`` is what ``whole`` computes; ``parts`` made it up."""

    function: str
    whole: ast.BinOp
    x: ast.expr
    eps: ast.expr
    parts: tuple[ast.expr, ...]


def _norm(site: Site, node: ast.AST) -> _Norm | None:
    """The normalization around a square root."""
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
            return _Norm("rms_norm", whole, other, eps, (root.subject, variance))
    elif isinstance(whole.op, ast.Div) and root.name == "sqrt" and whole.right is root.node:
        x = _centred(site, whole.left)
        if x is not None and _is_variance(site, variance, x, whole.left):
            return _Norm("layer_norm", whole, x, eps, (root.subject, variance, whole.left))
    return None


def _is_mean_square(site: Site, node: ast.expr, x: ast.expr) -> bool:
    inner = _mean(site, node)
    return inner is not None and _is_square(site, inner, x)


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


def _repair(event: Call, found: _Norm) -> Repair | Decline:
    site = event.site
    for part in (found.x, found.eps):
        if not reaches(site, part, found.whole):
            return Decline(f"`{site.text(part)}` changes in between")
    arguments: dict[str, ast.expr | str] = {
        "x": found.x,
        "shape": "$x.shape[-1:]",
        "eps": found.eps,
    }
    function = f"torch.nn.functional.{found.function}"
    fix = replaced(
        site,
        found.whole,
        function,
        arguments,
        _CHANGES,
        positional=2,
        leaves=True,
        keeps=[found.x] if found.function == "layer_norm" else [],
    )
    if isinstance(fix, Decline):
        return fix
    return without_leftovers(site, fix, found.whole, found.parts, (found.x, found.eps))
