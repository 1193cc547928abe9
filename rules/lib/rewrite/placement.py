"""Where an output call stands: what surrounds it, in words and as syntax."""

from __future__ import annotations

import ast

from tclint.lint.rewrite import Insert
from tclint.semantics.events import SideEffectCall
from tclint.semantics.site import Site

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_statement(event: SideEffectCall) -> ast.Expr | None:
    """The statement that a call is; None also in a lambda, which is walked like a statement."""
    return None if isinstance(event.site.body.scope, ast.Lambda) else event.statement


def why_not_alone(event: SideEffectCall) -> str:
    """Why a call that is no statement of its own cannot be moved or left out."""
    kinds = (ast.Lambda, *_COMPREHENSIONS, ast.stmt)
    outer = next(one for one in event.site.ancestors(event.call) if isinstance(one, kinds))
    if isinstance(outer, ast.Lambda):
        return "the call is inside a lambda"
    if isinstance(outer, _COMPREHENSIONS):
        return "the call is inside a comprehension"
    if isinstance(outer, ast.Expr):
        return "the call is part of a larger expression"
    return "the call's value is used"


def insert_above(site: Site, template: str) -> Insert:
    """Put a definition above the function or class of the module that holds the site."""
    body = site.module.tree.body
    index = _top_level_index(site)
    if index == 0:
        return Insert(body[0], template)
    return Insert(body[index - 1], f"\n\n{template}", after=True)


def is_bound_above(site: Site, name: str) -> bool:
    """True when an import of the module's top level binds ``name`` above the site's function."""
    above = site.module.tree.body[: _top_level_index(site)]
    return any(
        (alias.asname or alias.name.partition(".")[0]) == name
        for statement in above
        if isinstance(statement, (ast.Import, ast.ImportFrom))
        for alias in statement.names
    )


def _top_level_index(site: Site) -> int:
    """The index, in the module's body, of the statement that holds the site."""
    row = site.statement.lineno
    above = [s for s in site.module.tree.body if s.lineno <= row]
    return len(above) - 1
