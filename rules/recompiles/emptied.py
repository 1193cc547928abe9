"""Does anything empty a list that compiled code appends to?"""

from __future__ import annotations

import ast
from typing import TypeGuard

from tclint.semantics.collect import dotted_name
from tclint.semantics.events import ContainerGrown
from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes


def emptied_here(event: ContainerGrown) -> bool:
    """True when the same function makes it anew, or empties it."""
    return any(_empties(node, event) for node in nodes(event.site.body.scope))


def emptied_elsewhere(event: ContainerGrown) -> bool:
    """True when other code of the file sets or empties it, perhaps before each call."""
    if not isinstance(event.container, ast.Attribute):
        return any(_empties(node, event) for node in nodes(event.site.module.tree))
    cls = event.site.cls
    init = cls.methods.get("__init__") if cls else None
    inside = set(nodes(init.node)) if init else set()
    tree = event.site.module.tree
    return any(_empties(node, event) for node in nodes(tree) if node not in inside)


def inherits(event: ContainerGrown) -> bool:
    """True when the class has bases of the project, whose methods may empty the list."""
    cls = event.site.cls
    names = [dotted_name(cls.module, base) for base in cls.bases] if cls else []
    return any(name is None or not name.startswith("torch.nn.") for name in names)


def only_records(site: Site) -> bool:
    """True for an observer: its ``forward`` returns nothing but an argument, as it came."""
    function = site.cls.methods.get("forward", site.function) if site.cls else site.function
    if function is None or isinstance(function.node, ast.Lambda):
        return False
    stored = {n.id for n in nodes(function.node) if _is_store(n)}
    names = {argument.arg for argument in function.node.args.args} - stored
    returned = [n.value for n in nodes(function.node) if isinstance(n, ast.Return)]
    return all(isinstance(v, ast.Name) and v.id in names for v in returned)


def _is_store(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _empties(node: ast.AST, event: ContainerGrown) -> bool:
    """True for ``x.history = ...``, ``del x.history[:]`` and ``x.history.clear()`` or ``pop``."""
    match node:
        case ast.Attribute(attr="clear" | "pop" | "popleft", value=owner):
            return _same(owner, event.container)
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return _same(node, event.container)
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner, slice=ast.Slice()):
            return _same(owner, event.container)
    return False


def _same(node: ast.expr, container: ast.expr) -> bool:
    match node, container:
        case ast.Attribute(attr=one), ast.Attribute(attr=other):
            return one == other
        case ast.Name(id=one), ast.Name(id=other):
            return one == other
    return False
