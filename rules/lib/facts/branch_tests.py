"""The test that a decision belongs to, and what its statement is there for."""

from __future__ import annotations

import ast

from tclint.semantics.site import Site
from tclint.semantics.syntax import asked_of

_LOG_METHODS = frozenset(
    "debug info warning warn error exception critical log warning_once info_once".split()
)


def decided_if(site: Site, node: ast.expr | ast.stmt) -> ast.If | None:
    """The `if` statement that an expression decides, alone or with others."""
    statement = site.statement
    if isinstance(statement, ast.If) and any(leaf is node for leaf in asked_of(statement.test)):
        return statement
    return None


def is_asked(site: Site, node: ast.AST) -> bool:
    """True where Python asks for an expression's truth, so that a tensor would have to tell it."""
    outer = site.parent(node)
    while isinstance(outer, ast.BoolOp) and outer.values[-1] is node:
        node, outer = outer, site.parent(outer)
    return isinstance(outer, ast.BoolOp) or _tests(outer, node)


def is_only_asked(site: Site, node: ast.AST) -> bool:
    """True where nothing but an expression's truth is used, for a decision or an `assert`."""
    outer = site.parent(node)
    while isinstance(outer, ast.BoolOp):
        node, outer = outer, site.parent(outer)
    return _tests(outer, node) or (isinstance(outer, ast.Assert) and outer.test is node)


def _tests(outer: ast.AST | None, node: ast.AST) -> bool:
    match outer:
        case ast.UnaryOp(op=ast.Not()):
            return True
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            return test is node
        case ast.comprehension(ifs=conditions):
            return any(condition is node for condition in conditions)
    return False


def is_guard(statement: ast.If) -> bool:
    """True for an `if` that ends in `raise`."""
    return isinstance(statement.body[-1], ast.Raise)


def is_only_output(site: Site, statement: ast.If) -> bool:
    """True for an `if` without `else` that only prints, logs or warns."""
    return not statement.orelse and all(
        isinstance(inner, ast.Expr)
        and isinstance(inner.value, ast.Call)
        and _writes(site, inner.value)
        for inner in statement.body
    )


def _writes(site: Site, call: ast.Call) -> bool:
    if site.dotted(call.func) in ("print", "warnings.warn"):
        return True
    return isinstance(call.func, ast.Attribute) and call.func.attr in _LOG_METHODS
