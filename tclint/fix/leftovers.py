"""Imports that fixes took the last use of go with them."""

from __future__ import annotations

import ast
import re
import sys
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from tclint.source.file import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tclint.fix.guards import Change

_WITHOUT_EFFECTS: Final = frozenset({"torch", "numpy", *sys.stdlib_module_names})


def leftover_imports(before: str, after: str, needed: Callable[[str], bool]) -> list[Change]:
    """The changes of ``after`` that take out what ``before`` still used.

    Only names go that are imported from torch, numpy or the standard library, whose import does
    nothing else. Imports stay that have a comment, or that others need, which ``needed`` tells.
    """
    tree, lines = ast.parse(after), split_lines(after)
    gone = _loads(ast.parse(before)) - _mentioned(tree)
    if not gone:
        return []
    begins = [0, *accumulate(map(len, lines))]
    changes: list[Change] = []
    for statement in tree.body:
        names = gone & {name for one in _imports_of(statement) for name in _bound(one)}
        if not names or any(needed(name) for name in names):
            continue
        first, last = statement.lineno, statement.end_lineno or statement.lineno
        if _shares_rows(tree, statement) or "#" in "".join(lines[first - 1 : last]):
            continue
        kept = _without(statement, names)
        if kept is None:
            continue
        end = lines[last - 1][len(lines[last - 1].rstrip("\r\n")) :]
        if not kept and _blank(lines, first - 1) and _blank(lines, last + 1):
            last = min(last + 1, len(lines))
        changes.append((begins[first - 1], begins[last], kept + end if kept else ""))
    return changes


def _loads(tree: ast.Module) -> set[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}


def _mentioned(tree: ast.Module) -> set[str]:
    """The names that are read, and those that texts hold: annotations, ``__all__``."""
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    words = (re.findall(r"\w+", text) for text in texts if isinstance(text, str))
    return _loads(tree).union(*words)


def _imports_of(statement: ast.stmt) -> Iterator[ast.ImportFrom]:
    """The import that a statement is, or that it tries."""
    if isinstance(statement, ast.ImportFrom):
        yield statement
    elif isinstance(statement, ast.Try) and not statement.orelse and not statement.finalbody:
        yield from (one for one in statement.body if isinstance(one, ast.ImportFrom))


def _bound(statement: ast.ImportFrom) -> set[str]:
    root = (statement.module or "").partition(".")[0]
    if statement.level or root not in _WITHOUT_EFFECTS:
        return set()
    return {alias.asname or alias.name for alias in statement.names}


def _without(statement: ast.stmt, names: set[str]) -> str | None:
    """A statement without some of the names that it imports; None where that is not plain."""
    if isinstance(statement, ast.Try):
        handled = [one for handler in statement.handlers for one in handler.body]
        plain = all(_only_binds(one, names) for one in (*statement.body, *handled))
        return "" if plain else None
    if not isinstance(statement, ast.ImportFrom):
        return None
    kept = [alias for alias in statement.names if (alias.asname or alias.name) not in names]
    if not kept:
        return ""
    if statement.lineno != statement.end_lineno:
        return None
    return f"from {statement.module} import {', '.join(map(ast.unparse, kept))}"


def _only_binds(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return bool(_bound(statement)) and _bound(statement) <= names
    if isinstance(statement, ast.Assign):
        targets = {target.id for target in statement.targets if isinstance(target, ast.Name)}
        is_constant = isinstance(statement.value, ast.Constant)
        return is_constant and len(targets) == len(statement.targets) and targets <= names
    return isinstance(statement, ast.Pass)


def _shares_rows(tree: ast.Module, statement: ast.stmt) -> bool:
    rows = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
    return any(
        other is not statement and (other.lineno in rows or (other.end_lineno or 0) in rows)
        for other in tree.body
    )


def _blank(lines: Sequence[str], row: int) -> bool:
    """True for a free row, and beyond the first and the last one."""
    return not 1 <= row <= len(lines) or not lines[row - 1].strip()
