"""An operation of torch, whether it is written as a function or as a method."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from tclint.records import record
from tclint.semantics.lattice import tensor_in
from tclint.semantics.site import Site

_MODULES: Final = ("torch.nn.functional.", "torch.special.", "torch.")
# Spelled in several ways, the same operator.
_SYNONYMS: Final = {"bmm": "matmul", "mm": "matmul"}


@record(frozen=True)
class Operation:
    """``name`` applied to ``subject``; ``rest`` are the other arguments, ``named`` by keyword."""

    name: str
    subject: ast.expr
    rest: tuple[ast.expr, ...]
    named: Mapping[str, ast.expr]
    node: ast.Call

    def argument(self, position: int, *names: str) -> ast.expr | None:
        """The argument at a position after the subject, or of one of these names."""
        if position < len(self.rest):
            return self.rest[position]
        return next((self.named[name] for name in names if name in self.named), None)

    def takes_only(self, positions: int, *names: str) -> bool:
        """True when it has no other arguments than so many by position and these by name."""
        return len(self.rest) <= positions and self.named.keys() <= set(names)


def operation(site: Site, node: ast.AST | None, *names: str) -> Operation | None:
    """The operation that a call certainly is, if it is one of ``names``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Attribute, ast.Name)):
        return None
    last = node.func.attr if isinstance(node.func, ast.Attribute) else None
    if last is not None and _SYNONYMS.get(last, last) not in names:
        return None
    if any(isinstance(part, ast.Starred) for part in node.args):
        return None
    named = {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
    if len(named) != len(node.keywords):
        return None
    name, operands = _torch_function(site, node), tuple(node.args)
    if name is None:
        if not isinstance(node.func, ast.Attribute):
            return None
        if tensor_in(site.value(node.func.value)) is None:
            return None
        name, operands = node.func.attr, (node.func.value, *operands)
    elif not operands and "input" in named:
        operands = (named.pop("input"),)
    name = _SYNONYMS.get(name, name)
    if name not in names or not operands:
        return None
    return Operation(name, operands[0], operands[1:], named, node)


def _torch_function(site: Site, node: ast.Call) -> str | None:
    dotted = site.dotted(node.func) or ""
    prefix = next((prefix for prefix in _MODULES if dotted.startswith(prefix)), None)
    name = dotted.removeprefix(prefix) if prefix else ""
    return name if name and "." not in name else None


def same(left: ast.expr, right: ast.expr) -> bool:
    """True when two expressions are written alike."""
    return ast.dump(left) == ast.dump(right)


def matrix_product(site: Site, left: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """The matrix product that ``left`` is the left side of, and its right side."""
    outer = site.parent(left)
    if isinstance(outer, ast.BinOp):
        product = isinstance(outer.op, ast.MatMult) and outer.left is left
        return (outer, outer.right) if product else None
    if isinstance(outer, ast.Attribute):
        outer = site.parent(outer)
    found = operation(site, outer, "matmul")
    if found is None or found.subject is not left or not found.takes_only(1, "other", "mat2"):
        return None
    right = found.argument(0, "other", "mat2")
    return None if right is None else (found.node, right)


def factors_of_product(site: Site, node: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """Both sides of a matrix product."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return node.left, node.right
    found = operation(site, node, "matmul")
    right = found.argument(0, "other", "mat2") if found else None
    return (found.subject, right) if found and right is not None else None
