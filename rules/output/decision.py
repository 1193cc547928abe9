"""An ``if`` that exists only to decide whether something is put out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tclint.semantics.events import SideEffectCall
from tclint.semantics.lattice import options
from tclint.semantics.site import Site
from tclint.semantics.values import DataScalar, Tensor

_LOG_METHODS = frozenset(
    "debug info warning warn error exception critical log isEnabledFor".split()
)
_IDENTITY = (ast.Is, ast.IsNot)


def decision_around(event: SideEffectCall) -> ast.If | None:
    """The outermost ``if`` that is there only for output and ends the graph by its own test.

    Guarding the call inside would leave that graph break.
    """
    site, found = event.site, None
    node: ast.AST | None = site.statement
    if node is event.statement:
        node = site.parent(site.statement)
    while isinstance(node, ast.If) and _is_only_output(event, node):
        if any(_breaks(event, leaf) for leaf in _leaves(node.test)):
            found = node
        node = site.parent(node)
    return found


def is_output(event: SideEffectCall, node: ast.AST) -> bool:
    """True for the event's call, and for prints, warnings and calls of the same logger."""
    if node is event.call:
        return True
    if not isinstance(node, ast.Call):
        return False
    if event.site.dotted(node.func) in {"print", "warnings.warn"}:
        return True
    mine, other = event.call.func, node.func
    if not isinstance(mine, ast.Attribute) or not isinstance(other, ast.Attribute):
        return False
    is_logger = event.sink in {"logger", "logging"} and other.attr in _LOG_METHODS
    return is_logger and ast.dump(mine.value) == ast.dump(other.value)


def _is_only_output(event: SideEffectCall, node: ast.If) -> bool:
    """True for an ``if`` that is no ``elif``, has no ``else``, and only puts something out."""
    if node.orelse or event.site.text(node).startswith("elif"):
        return False
    return all(
        is_output(event, statement.value)
        if isinstance(statement, ast.Expr)
        else isinstance(statement, ast.If) and _is_only_output(event, statement)
        for statement in node.body
    )


def _leaves(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose truth a test asks."""
    if isinstance(test, ast.BoolOp):
        for operand in test.values:
            yield from _leaves(operand)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _leaves(test.operand)
    else:
        yield test


def _breaks(event: SideEffectCall, leaf: ast.expr) -> bool:
    if leaf is event.call:
        return True
    asked = [leaf]
    if isinstance(leaf, ast.Compare) and not any(isinstance(op, _IDENTITY) for op in leaf.ops):
        asked += [leaf.left, *leaf.comparators]
    return any(_is_data(event.site, part) for part in asked)


def _is_data(site: Site, node: ast.expr) -> bool:
    return any(isinstance(option, (Tensor, DataScalar)) for option in options(site.value(node)))
