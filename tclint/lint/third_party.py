"""Breaks inside installed packages, told at the project's call that surely runs into them.

Nobody wants findings in code that is not theirs, and much of a library depends on its settings. So
only what runs whenever the call runs is told: no unknown condition is on the way, no earlier exit.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Final

from tclint.diagnostics import (
    ChainLink,
    Confidence,
    Decline,
    Diagnostic,
    Effect,
)
from tclint.lint.headline import headline
from tclint.records import record
from tclint.semantics.body import Body
from tclint.semantics.events import Event
from tclint.semantics.lattice import options
from tclint.semantics.values import UNKNOWN, Class, Function, Object, Static, Value
from tclint.source.file import SourceFile

EXITS: Final = (ast.Return, ast.Break, ast.Continue)
SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
# What is inside of these may run or not.
MAYBE: Final = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)


@record(frozen=True)
class Caller:
    """The call in the project that leads to installed code, and the statement that it is in."""

    file: SourceFile
    call: ast.expr
    statement: ast.stmt


class ThirdParty:
    """Finds the project's calls that lead to breaks in installed packages."""

    def __init__(self, bodies: Iterable[Body], checked: frozenset[Path]) -> None:
        """``bodies`` are the functions that were walked, ``checked`` the project's own files."""
        self._checked = {str(path) for path in checked}
        self._bodies = bodies
        self._outlines: dict[tuple[str, str], list[_Outline]] = {}
        self._sure: dict[ChainLink, bool] = {}

    def caller(self, event: Event) -> Caller | None:
        """The project's call that surely runs into the event; None if there is none."""
        if not event.site.module.installed or event.site.facts.default_off:
            return None
        chain = event.site.chain
        places = [at for at, link in enumerate(chain) if link.filename in self._checked]
        if not places or not all(map(self._surely_runs, chain[places[-1] + 1 :])):
            return None
        return self._call(chain[places[-1]])

    def _outline(self, link: ChainLink) -> _Outline | None:
        if not self._outlines:
            for body in self._bodies:
                name = body.function.qualname if body.function else "<module>"
                key = str(body.module.file.path), name
                self._outlines.setdefault(key, []).append(_Outline(body))
        found = self._outlines.get((link.filename, link.function), [])
        return found[0] if len(found) == 1 else None  # two functions may have one name

    def _surely_runs(self, link: ChainLink) -> bool:
        if link not in self._sure:
            outline = self._outline(link)
            self._sure[link] = outline is not None and outline.surely_runs(link.row)
        return self._sure[link]

    def _call(self, link: ChainLink) -> Caller | None:
        outline = self._outline(link)
        statement = outline.statement_at(link.row) if outline is not None else None
        if outline is None or statement is None:
            return None
        values = outline.body.values
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call) or node.lineno != link.row:
                continue
            if any(map(_is_installed, options(values.get(node.func, UNKNOWN)))):
                return Caller(outline.body.module.file, node, statement)
        return None


class _Outline:
    """The statements of a function, and where it may be left early; found when asked for."""

    def __init__(self, body: Body) -> None:
        self.body = body

    @cached_property
    def _own(self) -> list[ast.AST]:
        return [*_inside(self.body.scope)]

    @cached_property
    def _first_exit(self) -> float:
        return min((n.lineno for n in self._own if isinstance(n, EXITS)), default=inf)

    def statement_at(self, row: int) -> ast.stmt | None:
        """The innermost statement at a row."""
        found = [
            node
            for node in self._own
            if isinstance(node, ast.stmt) and node.lineno <= row <= (node.end_lineno or row)
        ]
        return max(found, key=lambda node: (node.lineno, node.col_offset), default=None)

    def surely_runs(self, row: int) -> bool:
        """Whether the statement at a row, and all of it, runs whenever the function does."""
        statement = self.statement_at(row)
        if statement is None or self._first_exit < statement.lineno:
            return False
        parts = _own_expressions(statement)
        return not any(isinstance(part, MAYBE) for part in parts) and self._reached(statement)

    def _reached(self, statement: ast.stmt) -> bool:
        inner: ast.AST = statement
        outer = self.body.parent(inner)
        while outer is not None and outer is not self.body.scope:
            if not self._leads_to(outer, inner):
                return False
            inner, outer = outer, self.body.parent(outer)
        return True

    def _leads_to(self, outer: ast.AST, inner: ast.AST) -> bool:
        match outer:
            case ast.If(test=test, body=block):
                value = self.body.values.get(test)
                if not isinstance(value, Static) or not value.known:
                    return False
                return bool(value.value) is (inner in block)
            case ast.For(body=block) | ast.AsyncFor(body=block) | ast.Try(body=block):
                return inner in block  # layers are looped over: there are some
        return isinstance(outer, (ast.With, ast.AsyncWith))


def told_at(found: Diagnostic, event: Event, caller: Caller) -> Diagnostic | None:
    """The diagnostic of an event in an installed package as the project sees it; None if unsure."""
    if found.effect is not Effect.GRAPH_BREAK or found.confidence is not Confidence.HIGH:
        return None
    module = event.site.module.name
    package, row = module.partition(".")[0], found.span.start.row
    return replace(
        found,
        message=headline(f"This calls `{module}`, which breaks the graph in line {row}"),
        path=caller.file.path,
        span=caller.file.span(caller.call),
        related=(),
        fixable=None,
        fix_message=None,
        declined=Decline(f"the break is in the installed package {package}: {found.message}"),
        instead="Call it before or after the compiled code, and pass its result in",
    )


def _is_installed(value: Value) -> bool:
    match value:
        case Function(info=info) | Class(info=info):
            return info.module.installed
        case Object(cls=cls):
            return cls is not None and cls.module.installed
    return False


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function without those of the functions in it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, SCOPES):
            yield from _inside(child)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(statement):
        if not isinstance(child, (ast.stmt, ast.ExceptHandler)):
            yield from ast.walk(child)
