"""Can the end of a class's ``__init__`` make what its methods make now?"""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.symbols import ClassInfo, FunctionInfo
from tclint.semantics.syntax import nodes


def why_no_place(
    site: Site, cls: ClassInfo, init: FunctionInfo | None, function: FunctionInfo
) -> str:
    """Why ``__init__`` cannot take a buffer at its end; empty when it can."""
    if {"staticmethod", "classmethod"} & set(function.decorators):
        return f"`{function.name}` has no `self`"
    if init is None or isinstance(init.node, ast.Lambda):
        plain = len(cls.bases) == 1 and site.dotted(cls.bases[0]) == "torch.nn.Module"
        return "" if plain else f"`{cls.name}` inherits its `__init__`"
    calls = [n for n in nodes(init.node) if isinstance(n, ast.Call)]
    if not any(isinstance(c.func, ast.Attribute) and c.func.attr == "__init__" for c in calls):
        return "`__init__` does not call `super().__init__()`"
    if any(isinstance(n, (ast.Return, ast.Raise)) for n in nodes(init.node)):
        return "`__init__` may return or raise before its last line"
    own = first_argument(init)
    for call in calls:
        base = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        runs = isinstance(base, ast.Name) and base.id == own
        if runs and (base is call.func or getattr(call.func, "attr", "") == function.name):
            return f"`__init__` itself calls `{function.name}`"
    return ""


def why_not_set_there(call: ast.Call, init: FunctionInfo) -> str:
    """Which attribute of the call some way through ``__init__`` does not set; empty for none."""
    own = first_argument(init)
    for node in nodes(call):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == own:
                known = init.cls is not None and _is_of_class(init.cls, attribute)
                if not known and not _sets(init.node.body, own, attribute):
                    return f"`{own}.{attribute}` is not set on every path through `__init__`"
    return ""


def _is_of_class(cls: ClassInfo, attribute: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == attribute and isinstance(part.ctx, ast.Store)
        for statement in cls.node.body
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        for part in nodes(statement)
    )


def _sets(block: object, own: str, attribute: str) -> bool:
    """True where a block of statements, run to its end, has certainly set the attribute."""
    return isinstance(block, list) and any(_set_by(part, own, attribute) for part in block)


def _set_by(statement: ast.stmt, own: str, attribute: str) -> bool:
    match statement:
        case ast.If(body=body, orelse=orelse):
            return _sets(body, own, attribute) and _sets(orelse, own, attribute)
        case ast.With(body=body):
            return _sets(body, own, attribute)
        case ast.Assign(targets=targets):
            return any(_is_own(part, own, attribute) for t in targets for part in nodes(t))
        case ast.AnnAssign(target=target, value=ast.expr()):
            return _is_own(target, own, attribute)
    return False


def _is_own(node: ast.AST, own: str, attribute: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attr, ctx=ast.Store()):
            return name == own and attr == attribute
    return False


def why_not_constant_there(call: ast.Call, init: FunctionInfo) -> str:
    """Which name of the call is another one in ``__init__``; empty for none."""
    local = {n.arg for n in nodes(init.node) if isinstance(n, ast.arg)} - {first_argument(init)}
    local |= {
        n.id for n in nodes(init.node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    for node in nodes(call):
        if isinstance(node, ast.Name) and node.id in local:
            return f"`{node.id}` means something else in `__init__`"
    return ""


def first_argument(function: FunctionInfo) -> str:
    """What a method calls its object: mostly ``self``."""
    arguments = function.node.args
    return next((a.arg for a in (*arguments.posonlyargs, *arguments.args)), "self")
