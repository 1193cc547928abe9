"""Is a tensor only read, so that one and the same may serve every step?"""

from __future__ import annotations

import ast

from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import Function, Object, Tensor

from ..proofs.purity import VIEWS
from ..proofs.uses import uses_of
from .helpers import only_reads

_COMPUTED = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.FormattedValue)
_FACTS = frozenset("shape dtype device ndim is_cuda requires_grad".split())
_SHARING = frozenset("numpy data_ptr storage untyped_storage set_data register_hook".split())


_WRITTEN = "the tensor is kept or changed"


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
    if isinstance(parent, ast.Tuple) and isinstance(site.parent(parent), ast.Subscript):
        return ""
    if isinstance(parent, ast.Subscript):
        if parent.slice is node:
            return ""
        return _why_not_read(site, parent) if isinstance(parent.ctx, ast.Load) else _WRITTEN
    if isinstance(parent, ast.Attribute):
        return _why_not_method(site, parent)
    if isinstance(parent, ast.AugAssign) and parent.target is not node:
        return ""
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        return why_not_only_read(site, node)
    if isinstance(parent, ast.Return):
        return "the tensor is returned"
    return _WRITTEN


def _why_not_method(site: Site, attribute: ast.Attribute) -> str:
    """Methods read their tensor, but for those in place; the views they make must be read too."""
    name, call = attribute.attr, site.parent(attribute)
    if name.endswith("_") or name in _SHARING or not isinstance(attribute.ctx, ast.Load):
        return _WRITTEN
    if isinstance(call, ast.Call) and call.func is attribute:
        return _why_not_read(site, call) if name in VIEWS else ""
    if name in _FACTS:
        return ""
    return _why_not_read(site, attribute) if name in VIEWS else _WRITTEN


def _why_not_argument(site: Site, node: ast.expr, call: ast.AST | None, keyword: str | None) -> str:
    """Functions of torch, methods of tensors and library layers only read their arguments."""
    if not isinstance(call, ast.Call) or keyword in ("out", None):
        return _WRITTEN
    if any(k.arg == "inplace" for k in call.keywords):
        return _WRITTEN
    dotted = site.dotted(call.func) or ""
    last = dotted.rpartition(".")[2]
    if dotted.startswith("torch.") and not last.endswith("_"):
        is_view = last in VIEWS and call.args[:1] == [node]
        return _why_not_read(site, call) if is_view else ""
    if isinstance(call.func, ast.Attribute) and _is_tensor(site, call.func.value):
        return ""
    layers = list(options(site.value(call.func)))
    if all(isinstance(o, Object) and o.is_module and o.cls is None for o in layers):
        return ""
    if all(isinstance(o, Function) and only_reads(o.info, call, node) for o in layers):
        return ""
    return f"`{site.text(call.func)}` may change the tensor"


def _is_tensor(site: Site, node: ast.expr) -> bool:
    return all(isinstance(option, Tensor) for option in options(site.value(node)))
