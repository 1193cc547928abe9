"""Is a tensor only read, so that one and the same may serve every step?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.values import Object, options

from ..proofs.purity import VIEWS
from ..proofs.uses import uses_of

_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.FormattedValue)


def why_not_only_read(site: Site, node: ast.expr) -> str:
    """Why the tensor could be changed or kept by somebody; empty when it is only read."""
    uses = uses_of(site, node)
    if uses.lost:
        return uses.lost
    return next(filter(None, (_why_not_read(site, use) for use in uses.nodes)), "")


def _why_not_read(site: Site, node: ast.expr) -> str:
    parent = site.parent(node)
    if isinstance(parent, _COMPUTED):
        return ""
    if isinstance(parent, ast.keyword):
        return _why_not_argument(site, node, site.parent(parent), parent.arg)
    if isinstance(parent, ast.Call) and parent.func is not node:
        return _why_not_argument(site, node, parent, "")
    if isinstance(parent, ast.Subscript):
        return _why_not_subscript(site, node, parent)
    if isinstance(parent, ast.Attribute):
        return _why_not_method(site, parent)
    if isinstance(parent, ast.AugAssign) and parent.target is not node:
        return ""
    if isinstance(parent, ast.Return):
        return "the tensor is returned"
    return "the tensor is kept or changed"


def _why_not_argument(
    site: Site, node: ast.expr, call: ast.AST | None, keyword: str | None
) -> str:
    """A function of torch's or a layer of its library reads its arguments."""
    if not isinstance(call, ast.Call) or keyword in ("out", None):
        return "the tensor is written by a call"
    dotted = site.dotted(call.func) or ""
    last = dotted.rpartition(".")[2]
    if dotted.startswith("torch.") and not last.endswith("_"):
        is_view = last in VIEWS and call.args[:1] == [node]
        return _why_not_read(site, call) if is_view else ""
    if isinstance(call.func, ast.Attribute) and _is_tensor_method(site, call.func):
        own = call.func.attr
        return "" if not own.endswith("_") or own.startswith("__") else ""
    if all(isinstance(o, Object) and o.is_module and o.cls is None
           for o in options(site.value(call.func))):  # fmt: skip
        return ""
    return f"`{site.text(call.func)}` may change the tensor"
