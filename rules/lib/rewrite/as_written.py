"""Expressions that are put together from parts of the program, with literals as they are there."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable
from typing import TypeAlias

_TextOf: TypeAlias = Callable[[ast.expr], str | None]


def as_written(node: ast.AST, text_of: _TextOf) -> str:
    """The source of a node: ``1e-3`` stays ``1e-3``, and ``1_000`` and ``"cpu"`` what they are.

    ``text_of`` gives the text at the place of a node, in the file that the node is from.
    """
    return ast.unparse(_Literals(text_of).visit(copy.deepcopy(node)))


class _Literals(ast.NodeTransformer):
    """Puts what a file says in place of each literal, as a name: names are written as they are."""

    def __init__(self, text_of: _TextOf) -> None:
        self._text_of = text_of

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Look the literal up; one that a fix has made up is written anew."""
        text = self._text_of(node) if hasattr(node, "lineno") else None
        return ast.Name(text, ast.Load()) if text and _says(text, node.value) else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Leave `1 .real`, where the space counts."""
        return node if isinstance(node.value, ast.Constant) else self._inside(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Leave the parts of an f-string, which have no places of their own on old Pythons."""
        return node

    def _inside(self, node: ast.expr) -> ast.expr:
        changed = self.generic_visit(node)
        assert isinstance(changed, ast.expr)
        return changed


def _says(text: str, value: object) -> bool:
    """True for a text on one line that is certainly this literal."""
    if "\n" in text:
        return False
    try:
        said = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return False
    return type(said) is type(value) and bool(said == value)
