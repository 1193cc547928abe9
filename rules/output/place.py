"""Where an output call stands: what surrounds it, in words and as syntax."""

from __future__ import annotations

import ast

from tclint.semantics.events import SideEffectCall
from tclint.semantics.site import Site

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def why_not_alone(event: SideEffectCall) -> str:
    """Why a call that is no statement of its own cannot be moved or left out."""
    for outer in event.site.ancestors(event.call):
        if isinstance(outer, ast.Lambda):
            return "the call is inside a lambda"
        if isinstance(outer, _COMPREHENSIONS):
            return "the call is inside a comprehension"
        if isinstance(outer, ast.Expr):
            return "the call is part of a larger expression"
        if isinstance(outer, ast.stmt):
            break
    return "the call's value is used"


def top_level_statement(site: Site) -> ast.stmt | None:
    """The statement of the module's top level that holds the site."""
    row = site.statement.lineno
    for statement in site.module.tree.body:
        if statement.lineno <= row <= (statement.end_lineno or statement.lineno):
            return statement
    return None
