"""Fixes that would evaluate an expression of the user's more often than the user's code does.

An attribute may be a property, and an object may make it up when asked: it is read as often as
before. What only reads tensors, sizes and plain attributes may be repeated.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from tclint.diagnostics import Decline
from tclint.lint.rewrite import Insert, Local, Repair, Replace
from tclint.lint.templates import parsed, part_of
from tclint.semantics.plain_reads import is_plain_read
from tclint.semantics.project import Project
from tclint.semantics.site import Site
from tclint.semantics.syntax import children, nodes

Times = Counter[str]
Parts = Mapping[str, ast.expr | ast.stmt]
_READS: Final = (ast.Attribute, ast.Await, ast.Call, ast.Subscript)
_ENDS: Final = (ast.Return, ast.Raise, ast.Continue, ast.Break)
_NO_PARTS: Final[Parts] = {}
_NOTHING: Final = Times()
_LOAD: Final = ast.Load()


def as_often(fix: Repair | Decline | None, site: Site, project: Project) -> Repair | Decline | None:
    """The fix, which says what it evaluates more often, if that may be seen."""
    if not isinstance(fix, Repair):
        return fix
    try:
        seen = _seen_again(fix, site, project)
    except RecursionError:
        return Decline("the expression is nested too deeply to tell what the fix evaluates twice")
    if not seen:
        return fix
    longest = max(map(site.text, seen), key=len)
    return fix.differing(f"`{longest}` is evaluated more than once, which may have side effects")


def _seen_again(fix: Repair, site: Site, project: Project) -> list[ast.expr]:
    """What a fix evaluates more often than before, and somebody may notice.

    Raises:
        RecursionError: the code is nested as deeply as Python can follow.
    """
    rewrites = [one for one in fix.rewrites if isinstance(one, Local)]
    replaced: dict[ast.AST, Replace] = {
        one.node: one for one in rewrites if isinstance(one, Replace)
    }
    inner = {below for node in replaced for below in nodes(node) if below is not node}
    outermost = [node for node in replaced if node not in inner]
    parts: dict[ast.AST, None] = {part: None for one in rewrites for part in one.parts.values()}
    rest = [*outermost, *(part for part in parts if part not in inner and part not in replaced)]
    before, after = _Count({}), _Count(replaced)
    times, now = before.total(rest, _NO_PARTS), after.rewritten(rewrites, rest)
    return [
        node
        for key, node in before.reads.items()
        if now[key] > times[key] and not is_plain_read(site, project, node)
    ]


class _Count:
    """How often reads are evaluated at most: by their syntax, with some code ``replaced``."""

    def __init__(self, replaced: Mapping[ast.AST, Replace]) -> None:
        self._replaced = replaced
        self.reads: dict[str, ast.expr] = {}

    def rewritten(self, rewrites: Sequence[Local], rest: Iterable[ast.AST]) -> Times:
        """What is evaluated after a rewriting; what a ``return`` keeps from running counts once."""
        found = self.total(rest, _NO_PARTS)
        for one in rewrites:
            if isinstance(one, Insert) and not one.after:
                found = self._block(parsed(one.template).body, one.parts, found)
            elif not isinstance(one, Replace):
                found += self._block(parsed(one.template).body, one.parts)
        return found

    def total(self, some: Iterable[ast.AST], parts: Parts) -> Times:
        """What several pieces of code evaluate."""
        found = Times()
        for node in some:
            found += self._times(node, parts)
        return found

    def _times(self, node: ast.AST, parts: Parts, *, is_part: bool = False) -> Times:
        """What a piece of code evaluates; a part of a template stands there without its own fix."""
        name = part_of(node.value if isinstance(node, ast.Expr) else node)
        if name is not None and name in parts:
            return self._times(parts[name], _NO_PARTS, is_part=True)
        fix = None if is_part else self._replaced.get(node)
        if fix is not None:
            return self._block(parsed(fix.template).body, fix.parts)
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                return Times()  # it runs when it is called
            case ast.IfExp(test=test, body=body, orelse=orelse):
                either = self._times(body, parts) | self._times(orelse, parts)
                return self._times(test, parts) + either
            case ast.If():
                return self._if(node, parts, Times())
            case ast.For(iter=once) | ast.AsyncFor(iter=once):
                again = self._block(node.body, parts)
                return self._times(once, parts) + again + again + self._block(node.orelse, parts)
            case ast.While(test=test):
                again = self._times(test, parts) + self._block(node.body, parts)
                return again + again + self._block(node.orelse, parts)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                again = self.total(children(node), parts)
                return again + again - self._times(node.generators[0].iter, parts)
        found = self.total(children(node), parts)
        if isinstance(node, _READS) and isinstance(getattr(node, "ctx", _LOAD), ast.Load):
            key = ast.dump(node)
            self.reads.setdefault(key, node)
            found[key] += 1
        return found

    def _block(self, block: Sequence[ast.stmt], parts: Parts, rest: Times = _NOTHING) -> Times:
        """What statements evaluate, and what comes behind them."""
        for statement in reversed(block):
            if isinstance(statement, ast.If) and statement not in self._replaced:
                rest = self._if(statement, parts, rest)
            else:
                rest = self._times(statement, parts) + rest
        return rest

    def _if(self, statement: ast.If, parts: Parts, rest: Times) -> Times:
        """What one of two blocks evaluates, and what comes behind those that do not leave."""
        ways = [
            self._block(block, parts, _NOTHING if block and isinstance(block[-1], _ENDS) else rest)
            for block in (statement.body, statement.orelse)
        ]
        return self._times(statement.test, parts) + (ways[0] | ways[1])
