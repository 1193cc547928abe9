"""Attributes of a module, as its methods and its ``__init__`` set them."""

from __future__ import annotations

import ast

from tclint.semantics.events import ModuleWrite
from tclint.semantics.symbols import FunctionInfo

from ..lib.judge.init_end import first_argument


def is_attribute_of(node: ast.expr, own: str, name: str) -> bool:
    """True for ``self.name``, where the module is called ``own``."""
    owner = node.value if isinstance(node, ast.Attribute) and node.attr == name else None
    return isinstance(owner, ast.Name) and owner.id == own


def is_integer_literal(node: ast.expr) -> bool:
    """True for a literal integer, negative ones too."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def guard_of(event: ModuleWrite) -> ast.If | None:
    """The ``if self.x is None:`` or ``if not hasattr(self, "x"):`` around the assignment alone."""
    site, statement = event.site, event.site.statement
    outer = site.parent(statement)
    if not isinstance(outer, ast.If) or outer.body != [statement] or outer.orelse:
        return None
    match outer.test:
        case ast.Compare(left=left, ops=[ast.Is()], comparators=[ast.Constant(value=None)]):
            return outer if ast.unparse(left) == ast.unparse(event.target) else None
        case ast.UnaryOp(
            op=ast.Not(), operand=ast.Call(func=ast.Name(id="hasattr"), args=[owner, name])
        ):
            named = isinstance(name, ast.Constant) and name.value == event.attribute
            same = ast.unparse(owner) == ast.unparse(event.target.value)
            return outer if named and same else None
    return None


def asks_whether_made(event: ModuleWrite) -> bool:
    """True where the function asks for the attribute before, and sets it if it is not there."""
    site, row = event.site, event.site.statement.lineno
    asked = [node for node in ast.walk(site.body.scope) if _asks_for(event, node)]
    asked = [node for node in asked if getattr(node, "lineno", row) <= row]
    return bool(asked) and not any(_is_kept(event, outer) for outer in site.ancestors(event.target))


def _asks_for(event: ModuleWrite, node: ast.AST) -> bool:
    """True for ``self.x is None``, ``self.x is not None`` and ``hasattr(self, "x")``."""
    match node:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot()], comparators=[ast.Constant(None)]):
            return ast.unparse(left) == ast.unparse(event.target)
        case ast.Call(func=ast.Name(id="hasattr"), args=[owner, ast.Constant(value=name)]):
            same = ast.unparse(owner) == ast.unparse(event.target.value)
            return name == event.attribute and same
    return False


def _is_kept(event: ModuleWrite, outer: ast.AST) -> bool:
    """True inside ``if self.x is not None:``: what is there already is written anew."""
    if not isinstance(outer, ast.If):
        return False
    inside = any(node is event.target for part in outer.body for node in ast.walk(part))
    match outer.test:
        case ast.Compare(ops=[ast.Is()]) | ast.UnaryOp(op=ast.Not()):
            return not inside and _asks_for(event, _plain(outer.test))
        case ast.Compare(ops=[ast.IsNot()]) | ast.Call():
            return inside and _asks_for(event, outer.test)
        case ast.BoolOp(op=ast.And(), values=tests):
            kinds = (t for t in tests if isinstance(t, ast.Compare))
            return inside and any(
                isinstance(t.ops[0], ast.IsNot) and _asks_for(event, t) for t in kinds
            )
    return False


def _plain(test: ast.expr) -> ast.expr:
    return test.operand if isinstance(test, ast.UnaryOp) else test


def set_to_none(init: FunctionInfo, name: str) -> ast.Assign | None:
    """``self.x = None`` among the statements of ``__init__`` itself."""
    assert not isinstance(init.node, ast.Lambda)
    for statement in init.node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            none = isinstance(statement.value, ast.Constant) and statement.value.value is None
            if none and is_attribute_of(statement.targets[0], first_argument(init), name):
                return statement
    return None
