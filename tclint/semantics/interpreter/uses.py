"""What parameters must be for how a function uses them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.semantics.symbols import FunctionNode
from tclint.semantics.syntax import (
    ATTRIBUTE,
    CALL,
    COMPARE,
    CONSTANT,
    NAME,
    SLICE,
    SUBSCRIPT,
    nodes,
)

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis


class Uses:
    """Parameters that a function uses as only some kind of value allows.

    ``range(n)`` and slice bounds would read a tensor on the host, and ``x["key"]`` fails for one;
    nobody passes one there on purpose without annotating it. ``keys`` are those of ``x["key"]``.
    """

    __slots__ = ("keys", "mappings", "numbers")

    def __init__(self, node: FunctionNode) -> None:
        numbers: set[str] = set()
        mappings: set[str] = set()
        keys: dict[str, set[str]] = {}
        for inner in nodes(node):
            if isinstance(inner, SUBSCRIPT) and isinstance(inner.value, NAME):
                key = inner.slice.value if isinstance(inner.slice, CONSTANT) else None
                if isinstance(key, str):
                    keys.setdefault(inner.value.id, set()).add(key)
            numbers.update(_names(_as_numbers(inner)))
            mappings.update(_names(_as_mapping(inner)))
        self.numbers: Final = frozenset(numbers)
        self.mappings: Final = frozenset(mappings)
        self.keys: Final = keys


def uses_of(analysis: Analysis, node: FunctionNode) -> Uses:
    """How the body uses the parameters."""
    known = analysis.uses.get(node)
    if known is None:
        known = analysis.uses[node] = Uses(node)
    return known


def _names(parts: list[ast.expr | None]) -> list[str]:
    return [part.id for part in parts if isinstance(part, NAME)]


def _as_numbers(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, SLICE):
        return [node.lower, node.upper]
    if isinstance(node, CALL) and isinstance(node.func, NAME) and node.func.id == "range":
        return [*node.args]
    return []


def _as_mapping(node: ast.AST) -> list[ast.expr | None]:
    if isinstance(node, SUBSCRIPT):
        return [node.value] if _is_text(node.slice) else []
    if isinstance(node, COMPARE) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        return [node.comparators[0]] if _is_text(node.left) else []
    if isinstance(node, CALL) and isinstance(node.func, ATTRIBUTE):
        return [node.func.value] if node.func.attr in ("items", "keys") else []
    return []


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, CONSTANT) and isinstance(node.value, str)
