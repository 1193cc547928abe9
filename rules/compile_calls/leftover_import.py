"""The import of a name that a fix takes the only use of."""

from __future__ import annotations

import ast

from tclint.lint.rewrite import Replace
from tclint.semantics.site import Site


def leftover_import(site: Site, use: ast.expr) -> Replace | None:
    """Take the name out of its ``from ... import``, if nothing but ``use`` needs it there.

    Imports that may be there for others stay: those of an ``__init__.py``, names that a string
    holds (``__all__``), and lines with a comment (``# noqa``).
    """
    module = site.module
    if not isinstance(use, ast.Name) or module.file.path.name == "__init__.py":
        return None
    for node in ast.walk(module.tree):
        again = isinstance(node, ast.Name) and node.id == use.id and node is not use
        if again or (isinstance(node, ast.Constant) and node.value == use.id):
            return None
    found = [s for s in module.tree.body if isinstance(s, ast.ImportFrom) and _brings(s, use.id)]
    if len(found) != 1 or _has_comment(site, found[0]):
        return None
    return Replace(found[0], _without(found[0], use.id))


def _brings(statement: ast.ImportFrom, name: str) -> bool:
    return any((alias.asname or alias.name) == name for alias in statement.names)


def _without(statement: ast.ImportFrom, name: str) -> str:
    kept = [alias for alias in statement.names if (alias.asname or alias.name) != name]
    if not kept:
        return ""
    return ast.unparse(ast.ImportFrom(statement.module, kept, statement.level))


def _has_comment(site: Site, statement: ast.ImportFrom) -> bool:
    lines = site.module.file.text.splitlines()[statement.lineno - 1 : statement.end_lineno]
    return any("#" in line for line in lines)
