"""Imports that fixes took the last use of go with them."""

from __future__ import annotations

import ast
import re
import sys
from itertools import accumulate
from typing import TYPE_CHECKING, Final, TypeAlias

from tclint.source.file import split_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tclint.fix.guards import Change

_Import: TypeAlias = "ast.Import | ast.ImportFrom"
_OPENED: Final = frozenset({"dir", "eval", "exec", "globals", "locals", "vars"})
_TYPE_COMMENT: Final = re.compile(r"#\s*type:(.*)")
_WITHOUT_EFFECTS: Final = frozenset({"torch", "numpy", *sys.stdlib_module_names})
# These are there with torch, whoever imports them.
_WITH_TORCH: Final = frozenset({"torch.amp", "torch.cuda", "torch.cuda.amp", "torch.nn"})


def leftover_imports(before: str, after: str, needed: Callable[[str], bool]) -> list[Change]:
    """The changes of ``after`` that take out what ``before`` still used.

    Only names go that are imported from torch, numpy or the standard library, whose import does
    nothing else. Imports stay that have a comment, or that others need, which ``needed`` tells, and
    all do where names may be read by texts.
    """
    tree, lines = ast.parse(after), split_lines(after)
    gone = _loads(ast.parse(before)) - _mentioned(tree, after)
    if not gone or _reads_by_text(tree):
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
        if kept is None or (not kept and _is_headed(lines, first, last)):
            continue
        end = lines[last - 1][len(lines[last - 1].rstrip("\r\n")) :]
        last += 0 if kept else _spare(lines, first, last)
        changes.append((begins[first - 1], begins[last], kept + end if kept else ""))
    return changes


def _is_headed(lines: Sequence[str], first: int, last: int) -> bool:
    """True for the only line below a comment."""
    above = lines[first - 2] if first > 1 else ""
    return above.lstrip().startswith("#") and _blank(lines, last + 1)


def _spare(lines: Sequence[str], first: int, last: int) -> int:
    """How many free rows below a statement are too many without it."""
    above, below = first - 1, last
    while above and _blank(lines, above):
        above -= 1
    while below < len(lines) and _blank(lines, below + 1):
        below += 1
    return below - last if not above else min(first - 1 - above, below - last)


def _loads(tree: ast.Module) -> set[str]:
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Load)}


def _mentioned(tree: ast.Module, text: str) -> set[str]:
    """The names that are read or deleted, and those that texts hold: annotations, ``__all__``."""
    texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    texts += _TYPE_COMMENT.findall(text)
    words = (re.findall(r"\w+", text) for text in texts if isinstance(text, str))
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if not isinstance(node.ctx, ast.Store)}.union(*words)


def _reads_by_text(tree: ast.Module) -> bool:
    """True where names of the module may be read by texts that nobody sees."""
    by_name = (node.id in _OPENED for node in ast.walk(tree) if isinstance(node, ast.Name))
    modules = (node.attr == "modules" for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return any(by_name) or any(modules)


def _imports_of(statement: ast.stmt) -> Iterator[_Import]:
    """The import that a statement is, or that it tries."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield statement
    elif isinstance(statement, ast.Try) and not statement.orelse and not statement.finalbody:
        yield from (one for one in statement.body if isinstance(one, (ast.Import, ast.ImportFrom)))


def _bound(statement: _Import) -> set[str]:
    if isinstance(statement, ast.Import):
        # A module of a package is there for whoever spells it by its full name, too.
        roots = {alias.name for alias in statement.names if alias.asname is None}
        named = {alias.asname: alias.name for alias in statement.names if alias.asname}
        known = _WITHOUT_EFFECTS | _WITH_TORCH
        return roots & _WITHOUT_EFFECTS | {name for name, of in named.items() if of in known}
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
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return None
    kept = [alias for alias in statement.names if (alias.asname or alias.name) not in names]
    if not kept:
        return ""
    if statement.lineno != statement.end_lineno:
        return None
    origin = f"from {statement.module} " if isinstance(statement, ast.ImportFrom) else ""
    return f"{origin}import {', '.join(map(ast.unparse, kept))}"


def _only_binds(statement: ast.stmt, names: set[str]) -> bool:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        bound = _bound(statement)
        return len(bound) == len(statement.names) and bound <= names
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
