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
    """True where another branch than that of ``node`` names ``dotted``, or asks if it is there.

    A name in the same branch is only used twice: ``norm(a) / f(a) + norm(b) / f(b)``.
    """
    if isinstance(site.body.scope, ast.Module):
        return False
    own = {*_branches(site, node)}
    return is_asked_for(site, dotted) or any(
        {*_branches(site, other)} != own for other in _named(site, dotted)
    )


def is_asked_for(site: Site, dotted: str) -> bool:
    """True in a function that asks whether ``dotted`` is there, by its last name."""
    last = dotted.rpartition(".")[2]
    return not isinstance(site.body.scope, ast.Module) and any(
        isinstance(node, ast.Constant) and node.value == last and _asks(site, node)
        for node in nodes(site.body.scope)
    )


def _named(site: Site, dotted: str) -> Iterator[ast.Attribute]:
    last = dotted.rpartition(".")[2]
    for node in nodes(site.body.scope):
        if isinstance(node, ast.Attribute) and node.attr == last and site.dotted(node) == dotted:
            yield node


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
