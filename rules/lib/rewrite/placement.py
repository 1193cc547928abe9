"""Where an output call stands: what surrounds it, in words and as syntax."""

from __future__ import annotations

import ast

from tclint.semantics.events import SideEffectCall

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
