"""Attributes of a module, as its methods and its ``__init__`` set them."""

from __future__ import annotations

import ast

from tclint.semantics.events import ModuleWrite
from tclint.semantics.symbols import FunctionInfo
from tclint.semantics.syntax import beside

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


def is_made_when_missing(event: ModuleWrite) -> bool:
    """True where the attribute is set since it is not there: under a test, or after a return."""
    if guard_of(event) is not None:
        return True
    inside: ast.AST = event.site.statement
    for outer in event.site.ancestors(inside):
        if isinstance(outer, ast.If):
            missing = inside in outer.body
            if _asks(event, outer.test, missing=missing):
                return _starts_as_none(event)
        if any(_returns_it(event, before) for before in beside(outer, inside)[0]):
            return _starts_as_none(event)
        inside = outer
    return False


def _returns_it(event: ModuleWrite, statement: ast.AST) -> bool:
    """True for ``if self.x is not None and ...: return ...``."""
    match statement:
        case ast.If(test=test, body=[*_, ast.Return()], orelse=[]):
            return _asks(event, test, missing=False)
    return False


def _asks(event: ModuleWrite, test: ast.expr, *, missing: bool) -> bool:
    """True where a part of a test asks whether the attribute is missing, or whether it is there."""
    match test:
        case ast.BoolOp(values=values):
            return any(_asks(event, value, missing=missing) for value in values)
        case ast.Compare(left=left, ops=[op], comparators=[ast.Constant(None)]):
            kind = ast.Is if missing else ast.IsNot
            return isinstance(op, kind) and ast.unparse(left) == ast.unparse(event.target)
    return False


def _starts_as_none(event: ModuleWrite) -> bool:
    cls = event.site.cls
    init = cls.methods.get("__init__") if cls is not None else None
    if cls is None or init is None:
        return False
    return set_to_none(init, event.attribute) is not None


def set_to_none(init: FunctionInfo, name: str) -> ast.Assign | None:
    """``self.x = None`` among the statements of ``__init__`` itself."""
    assert not isinstance(init.node, ast.Lambda)
    for statement in init.node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            none = isinstance(statement.value, ast.Constant) and statement.value.value is None
            if none and is_attribute_of(statement.targets[0], first_argument(init), name):
                return statement
    return None
