"""Expressions that may be dropped, repeated or evaluated early without anybody noticing."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo
from tclint.semantics.syntax import nodes
from tclint.semantics.values import Object, Tensor

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
_MADE_UP = frozenset({"__getattr__", "__getattribute__"})


def is_pure(site: Site, node: ast.expr) -> bool:
    """True when evaluating ``node`` only computes: no call that could write, draw or print."""
    return not any(is_property(site, part) for part in nodes(node)) and all(
        not isinstance(part, (ast.Call, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom))
        or (isinstance(part, ast.Call) and _pure_call(site, part))
        for part in nodes(node)
    )


def is_property(site: Site, node: ast.AST) -> bool:
    """True where a method of the program runs when an attribute is read."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = site.value(node.value)
    if not isinstance(owner, Object) or owner.cls is None:
        return False
    parent = site.parent(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    names = {*_MADE_UP, *(() if is_called else (node.attr,))}
    return any(not names.isdisjoint(cls.methods) for cls in _family(owner.cls))


def _family(cls: ClassInfo) -> list[ClassInfo]:
    """A class and its bases of the same file."""
    found = [cls]
    for one in found:  # grows while it is walked
        names = (base.id for base in one.bases if isinstance(base, ast.Name))
        known = (one.module.classes.get(name) for name in names)
        found += [base for base in known if base is not None and base not in found]
    return found


def _pure_call(site: Site, call: ast.Call) -> bool:
    if any(keyword.arg in (None, "out") for keyword in call.keywords):
        return False
    dotted = site.dotted(call.func)
    if dotted is not None and dotted.startswith("torch."):
        return dotted.removeprefix("torch.") in PURE | {"tensor", "zeros", "ones", "linalg.norm"}
    if not isinstance(call.func, ast.Attribute):
        return False
    return call.func.attr in PURE and isinstance(site.value(call.func.value), Tensor)
