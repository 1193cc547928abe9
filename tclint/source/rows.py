"""The rows of a file that syntax stands on."""

from __future__ import annotations

import ast


def first_row(node: ast.expr | ast.stmt) -> int:
    """The row on which a node begins, decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
