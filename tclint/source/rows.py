"""The rows of a file that syntax stands on."""

from __future__ import annotations

import ast


def first_row(node: ast.expr | ast.stmt) -> int:
    """The row on which a node begins, decorators included."""
    decorators: list[ast.expr] | None = getattr(node, "decorator_list", None)
    if not decorators:
        return node.lineno
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])
