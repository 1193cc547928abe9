"""Finds the place that ends a step in a file, and has it call out."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def parsed(source: bytes | str, path: str) -> ast.Module:
    """The tree of a file."""
    return ast.parse(source, path)


def mark(tree: ast.Module, row: int, function: str, name: str) -> bool:
    """Call ``name`` before the statement of a row, or first in a function; false if not there."""
    found = _function(tree, function) if function else _statement(tree, row)
    if found is None:
        return False
    body, place = found
    call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))
    for node in ast.walk(call):
        if isinstance(node, (ast.stmt, ast.expr)):
            ast.copy_location(node, body[place])
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    body.insert(place, call)
    return True


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for value in vars(node).values():
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value


def _statement(tree: ast.Module, row: int) -> tuple[list[ast.stmt], int] | None:
    """The innermost statement that holds the row: the one that begins last."""
    holding = [
        (body, place)
        for node in ast.walk(tree)
        for body in _bodies(node)
        for place, one in enumerate(body)
        if one.lineno <= row <= (one.end_lineno or one.lineno)
    ]
    return max(holding, key=lambda found: found[0][found[1]].lineno, default=None)


def _function(tree: ast.Module, name: str) -> tuple[list[ast.stmt], int] | None:
    body = tree.body
    definition: ast.AST | None = None
    for part in name.split("."):
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        named = [one for one in body if isinstance(one, kinds) and one.name == part]
        if not named:
            return None
        definition, body = named[-1], named[-1].body
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return None
    first = ast.get_docstring(definition, clean=False) is not None
    # A body of nothing but its words has no second statement.
    return (body, int(first)) if len(body) > int(first) else (body, 0)
