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


def set_to_none(init: FunctionInfo, name: str) -> ast.Assign | None:
    """``self.x = None`` among the statements of ``__init__`` itself."""
    assert not isinstance(init.node, ast.Lambda)
    for statement in init.node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            none = isinstance(statement.value, ast.Constant) and statement.value.value is None
            if none and is_attribute_of(statement.targets[0], first_argument(init), name):
                return statement
    return None
