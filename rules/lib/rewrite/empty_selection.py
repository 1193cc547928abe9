"""Code that is left out where a mask selects nothing: compiled code does it with no rows."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Final

from tclint.diagnostics import Change, Decline
from tclint.lint.rewrite import Repair, Replace
from tclint.semantics.site import Site

from ..facts.selections import EmptyTest
from ..judge.no_rows import Rows, trace_of
from .proved import NO_TORCH

_MESSAGE: Final = (
    "Test in eager code only whether anything is selected: compiled code computes with no rows"
)
_CHANGES: Final = (
    "compiled code also runs what follows where nothing is selected: a parameter that is used "
    "there gets a gradient of zeros, not None, and running statistics take in no rows"
)


def ask_in_eager(site: Site, test: EmptyTest, names: frozenset[str]) -> Repair | Decline:
    """Let compiled code go on where nothing is selected, if it then writes nothing."""
    body = _rest(site, test)
    if isinstance(body, Decline):
        return body
    why = trace_of(site, body, Rows(names))
    if why:
        return Decline(why)
    spelled = site.spell("torch.compiler.is_compiling")
    if spelled is None:
        return NO_TORCH
    asked = test.statement.test
    template = f"not {spelled}() and $test" if test.when_empty else f"{spelled}() or $test"
    rewrite = Replace(asked, template, {"test": asked})
    return Repair(_MESSAGE, (rewrite,), Change.BEHAVIOUR, _CHANGES)


def _rest(site: Site, test: EmptyTest) -> Sequence[ast.stmt] | Decline:
    """What runs for a selection that is not empty."""
    statement = test.statement
    if statement.orelse:
        return Decline("something else is done where nothing is selected")
    if not test.when_empty:
        return statement.body
    loop = site.parent(statement)
    if not isinstance(loop, (ast.For, ast.While)) or not _only_skips(statement.body):
        return Decline("something else is done where nothing is selected")
    place = loop.body.index(statement) if statement in loop.body else len(loop.body)
    return loop.body[place + 1 :]


def _only_skips(body: Sequence[ast.stmt]) -> bool:
    return len(body) == 1 and isinstance(body[0], ast.Continue)
