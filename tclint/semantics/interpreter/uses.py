"""What parameters must be for how a function uses them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
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
    ``masks`` are boolean: what `torch.where` and `masked_fill` are told by, and ``x[~m]``.
    """

    __slots__ = ("keys", "mappings", "masks", "numbers")

    def __init__(self, node: FunctionNode) -> None:
        numbers: set[str] = set()
        mappings: set[str] = set()
        masks: set[str] = set()
        bound: set[str] = set()
        keys: dict[str, set[str]] = {}
        for inner in nodes(node):
            if isinstance(inner, SUBSCRIPT) and isinstance(inner.value, NAME):
                key = inner.slice.value if isinstance(inner.slice, CONSTANT) else None
                if isinstance(key, str):
                    keys.setdefault(inner.value.id, set()).add(key)
            numbers.update(_names(_as_numbers(inner)))
            mappings.update(_names(_as_mapping(inner)))
            masks.update(_names(_as_mask(inner)))
            if isinstance(inner, NAME) and not isinstance(inner.ctx, ast.Load):
                bound.add(inner.id)
        self.numbers: Final = frozenset(numbers)
        self.mappings: Final = frozenset(mappings)
        self.masks: Final = frozenset(masks - bound)  # what is bound anew was another kind
        self.keys: Final = keys


def uses_of(analysis: Analysis, node: FunctionNode) -> Uses:
    """How the body uses the parameters."""
    known = analysis.uses.get(node)
    if known is None:
        known = analysis.uses[node] = Uses(node)
    return known


def signs_of(node: FunctionNode, name: str) -> Iterator[tuple[str, ast.AST]]:
    """The places that tell what a parameter is by how they use it, each with the kind."""
    for inner in nodes(node):
        for kind, told in _SIGNS:
            if name in _names(told(inner)):
                yield kind, inner


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


_MASKED: Final = frozenset(
    {"masked_fill", "masked_fill_", "masked_select", "masked_scatter", "masked_scatter_"}
)


def _as_mask(node: ast.AST) -> list[ast.expr | None]:
    match node:
        case ast.Call(func=ast.Attribute(attr="where"), args=[test, _, *_]):
            return [test, _inverted(test)]
        case ast.Call(func=ast.Attribute(value=owner, attr=name), args=args) if name in _MASKED:
            of_torch = isinstance(owner, NAME) and owner.id == "torch"
            told = args[1:2] if of_torch else args[:1]
            return [*told, *map(_inverted, told)]
        case ast.Subscript(slice=index):
            return [_inverted(index)]
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            pairs = ((left, right), (right, left))
            return [one for one, other in pairs if isinstance(other, ast.Compare)]
    return []


def _inverted(node: ast.expr) -> ast.expr | None:
    inverts = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    return node.operand if isinstance(node, ast.UnaryOp) and inverts else None


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, CONSTANT) and isinstance(node.value, str)


_SIGNS: Final = (("number", _as_numbers), ("dict", _as_mapping), ("mask", _as_mask))
"""What each kind is told by: a mask is a tensor, the others are none."""
