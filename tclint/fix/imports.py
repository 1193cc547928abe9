"""The edit that adds an import to a file."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tclint.diagnostics import Edit, Position, Span
from tclint.fix.obstacle import ObstacleError
from tclint.fix.snippet import newline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tclint.lint.rewrite import Import
    from tclint.source.file import SourceFile

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def import_edit(file: SourceFile, tree: ast.Module, wanted: Import) -> Edit | None:
    """Insert an import below the ones at the top of the file; None when it is there already."""
    if any(_provides(statement, wanted) for statement in tree.body):
        return None
    local = wanted.name or wanted.module.partition(".")[0]
    for statement in tree.body:
        if local in _bound(statement) and not _same_package(statement, wanted):
            raise ObstacleError(f"`{local}` already means something else in this file")
    text = f"import {wanted.module}"
    if wanted.name is not None:
        text = f"from {wanted.module} import {wanted.name}"
    return _insertion(file, _row(tree), text, newline(file))


def _provides(statement: ast.stmt, wanted: Import) -> bool:
    if wanted.name is None:
        return isinstance(statement, ast.Import) and any(
            alias.name == wanted.module and alias.asname is None for alias in statement.names
        )
    return (
        isinstance(statement, ast.ImportFrom)
        and statement.level == 0
        and statement.module == wanted.module
        and any(a.name == wanted.name and a.asname in (None, a.name) for a in statement.names)
    )


def _same_package(statement: ast.stmt, wanted: Import) -> bool:
    """True for ``import a.b`` where ``import a.c`` is wanted: both bind ``a``."""
    if wanted.name is not None or not isinstance(statement, ast.Import):
        return False
    package = wanted.module.partition(".")[0]
    return any(a.asname is None and a.name.partition(".")[0] == package for a in statement.names)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a top-level statement binds, as far as its own syntax says."""
    if isinstance(statement, _DEFINITIONS):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    return {
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def _row(tree: ast.Module) -> int:
    """The row after which the import goes: 0 is the top of an empty file."""
    last = 0
    for statement in _head(tree):
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or last == 0:
            last = statement.end_lineno or statement.lineno
    if last == 0:
        first = next(iter(tree.body), None)
        decorators = getattr(first, "decorator_list", [])
        last = min((n.lineno for n in [first, *decorators] if n is not None), default=1) - 1
    for statement in tree.body:
        if statement.lineno <= last < (statement.end_lineno or last):
            last = statement.end_lineno or last
    return last


def _head(tree: ast.Module) -> Iterator[ast.stmt]:
    """The docstring and whatever stands between it and the first definition."""
    for index, statement in enumerate(tree.body):
        if isinstance(statement, _DEFINITIONS):
            return
        is_docstring = (
            index == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        )
        if is_docstring or isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield statement


def _insertion(file: SourceFile, row: int, text: str, end: str) -> Edit:
    """Put a line below ``row``."""
    if row and row >= len(file.lines) and not file.lines[-1].endswith(("\n", "\r")):
        place = Position(len(file.lines), len(file.lines[-1]) + 1)
        return Edit(Span(place, place), end + text)
    place = Position(row + 1, 1)
    return Edit(Span(place, place), text + end)
