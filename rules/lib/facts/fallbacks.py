"""Code that stands in for what the library may not have: rewriting it would make it pointless."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from tclint.semantics.site import Site
from tclint.semantics.syntax import nodes

KEPT = "the function already chooses between this and `{}`, for versions without it"
_ASKS: Final = ("hasattr", "getattr", "dir")


def is_fallback(site: Site, node: ast.expr, dotted: str) -> bool:
    """True where the function chooses between ``node`` and ``dotted``.

    Then another branch than the one with ``node`` names it, or the function asks by its last name
    if it is there. A name beside ``node`` is only used twice.
    """
    scope, last = site.body.scope, dotted.rpartition(".")[2]
    if isinstance(scope, ast.Module):
        return False
    around: set[tuple[ast.AST, str]] | None = None
    for other in nodes(scope):
        if isinstance(other, ast.Constant) and other.value == last and _asks(site, other):
            return True
        if isinstance(other, ast.Attribute) and other.attr == last and site.dotted(other) == dotted:
            around = {*_branches(site, node)} if around is None else around
            if around != {*_branches(site, other)}:
                return True
    return False


def _asks(site: Site, name: ast.Constant) -> bool:
    """True in ``hasattr(torch, "name")``, and in ``"name" in dir(torch)``."""
    outer = site.parent(name)
    parts = ast.walk(outer) if isinstance(outer, (ast.Call, ast.Compare)) else ()
    return any(isinstance(part, ast.Name) and part.id in _ASKS for part in parts)


def _branches(site: Site, node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """The branches that ``node`` stands in: what decides, and the field of it."""
    inner = node
    for outer in site.ancestors(node):
        if isinstance(outer, (ast.If, ast.IfExp, ast.Try, ast.match_case)):
            part = next(name for name, held in ast.iter_fields(outer) if _holds(held, inner))
            if part != "test":
                yield outer, part
        inner = outer


def _holds(field: object, node: ast.AST) -> bool:
    return field is node or (isinstance(field, list) and node in field)
