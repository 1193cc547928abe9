"""Expressions that may be dropped, repeated or evaluated early without anybody noticing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.site import Site
from tclint.semantics.values import Tensor

_REDUCTIONS = frozenset(
    "all any sum mean prod min max amin amax argmax argmin norm std var median logsumexp "
    "count_nonzero nansum nanmean numel dim size".split()
)
_POINTWISE = frozenset(
    "abs neg exp log log2 log10 log1p expm1 sqrt rsqrt square sin cos tan tanh sigmoid relu erf "
    "floor ceil round trunc sign isnan isinf isfinite logical_not logical_and logical_or eq ne lt "
    "le gt ge add sub mul div pow clamp clamp_min clamp_max minimum maximum where float double "
    "half bfloat16 int long bool to detach clone softmax log_softmax cumsum matmul".split()
)
VIEWS = frozenset(
    "view view_as reshape squeeze unsqueeze select narrow t transpose permute flatten unflatten "
    "expand expand_as contiguous detach diagonal unbind chunk split ravel movedim swapaxes "
    "to float double half bfloat16 int long bool cpu cuda type_as real imag data T mT H mH".split()
)
PURE = _REDUCTIONS | _POINTWISE | VIEWS
# On a tensor of any shape and real dtype these cannot raise.
_TOTAL = frozenset("all any sum mean abs isnan isinf isfinite logical_not".split())
_SAFE_NODES = (ast.Constant, ast.Name, ast.Attribute)


def is_pure(site: Site, node: ast.expr) -> bool:
    """True when evaluating ``node`` only computes: no call that could write, draw or print."""
    return all(
        not isinstance(part, (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(part, ast.Call) and _pure_call(site, part))
        for part in ast.walk(node)
    )


def _pure_call(site: Site, call: ast.Call) -> bool:
    if any(keyword.arg in (None, "out") for keyword in call.keywords):
        return False
    dotted = site.dotted(call.func)
    if dotted is not None and dotted.startswith("torch."):
        return dotted.removeprefix("torch.") in PURE | {"tensor", "zeros", "ones", "linalg.norm"}
    if not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in PURE and isinstance(site.value(call.func.value), Tensor)


def cannot_raise(site: Site, node: ast.expr) -> bool:
    """True when evaluating ``node`` has no side effect and certainly raises nothing."""
    return all(_total(site, part) for part in _parts(node))


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    for part in ast.walk(node):
        if isinstance(part, ast.expr):
            yield part


def _total(site: Site, node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        function = node.func
        if node.keywords or not isinstance(function, ast.Attribute):
            return False
        name, arguments = function.attr, node.args
        if (site.dotted(function) or "").startswith("torch."):
            return name in _TOTAL and all(_tensor(site, a) for a in arguments)
        return name in _TOTAL and not arguments and _tensor(site, function.value)
    if isinstance(node, ast.Compare):
        return all(_tensor(site, p) or _number(p) for p in (node.left, *node.comparators))
    if isinstance(node, ast.Attribute):
        return True
    return isinstance(node, ast.Name) or _number(node)


def _tensor(site: Site, node: ast.expr) -> bool:
    return isinstance(site.value(node), Tensor)


def _number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, (int, float))
