"""Copies of tensors to the host, and what they are copies of."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site


def is_copy_to_host(site: Site, call: ast.Call) -> bool:
    """True for ``t.cpu()`` and for ``t.to(...)`` the host, unless it says that it does not wait."""
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr == "cpu":
        return True
    if call.func.attr != "to" or any(k.arg == "non_blocking" for k in call.keywords):
        return False
    named = [*call.args[:1], *(k.value for k in call.keywords if k.arg == "device")]
    return any(_is_host(site, place) for place in named)


def copied(site: Site, node: ast.expr) -> ast.expr:
    """The tensor behind ``.detach()``, ``.data`` and copies to the host."""
    match node:
        case ast.Call(func=ast.Attribute(attr="detach", value=inner), args=[], keywords=[]):
            return copied(site, inner)
        case ast.Call(func=ast.Attribute(value=inner)) if is_copy_to_host(site, node):
            return copied(site, inner)
        case ast.Attribute(attr="data", value=inner):
            return copied(site, inner)
    return node


def _is_host(site: Site, node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str() as device):
            return device.partition(":")[0] == "cpu"
        case ast.Call(func=made, args=[device, *_]) if site.dotted(made) == "torch.device":
            return _is_host(site, device)
        case ast.Name(id=name) if not site.stores(name):
            written = site.module.assigned.get(name)
            return isinstance(written, ast.Call) and _is_host(site, written)
    return False
