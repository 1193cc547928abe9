"""Which definition of a variable each read in a function finds.

A `Definition` is what binds a variable: a statement, a parameter, a loop. Where ways through the
function meet that bound it differently, another one stands for whichever came: in one round of a
loop, reads that find one definition find one value. What an exception ends early may bring any
definition from inside. Code inside that runs when somebody calls it (a function, a generator)
may find all. Variables that a function declares `global` or `nonlocal` have none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final, Literal

from tclint.semantics.collect import TRIES
from tclint.semantics.syntax import BINDING, NAME, children, end_of, nodes, own_nodes, start_of

Binder = ast.stmt | ast.expr | ast.arg | ast.comprehension | ast.excepthandler | ast.pattern
"""What gives a variable its value, or where the ways meet that do: one node for each of them."""
_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_INSIDE: Final = (*_FUNCTIONS, ast.ClassDef)
_LEAVING: Final = (ast.Return, ast.Raise, ast.Break, ast.Continue)


class Definition:
    """What a variable gets at ``node``: ``value``, where that is one expression.

    ``merged`` are the definitions that meet at ``node``, ``into`` are those that this one meets
    others in, and ``reads`` are the reads that find it.
    """

    __slots__ = ("into", "merged", "name", "node", "reads", "value")

    def __init__(self, name: str, node: Binder, value: ast.expr | None = None) -> None:
        self.name: Final = name
        self.node: Final = node
        self.value: Final = value
        self.merged: Final[list[Definition]] = []
        self.into: Final[list[Definition]] = []
        self.reads: Final[list[ast.Name]] = []

    def merge(self, others: Iterable[Definition | None]) -> Definition:
        """Stand for other definitions, too; None is that of a variable that is not bound."""
        for one in others:
            if one is not None and one not in self.merged:
                self.merged.append(one)
                one.into.append(self)
        return self


_Way = dict[str, Definition]
"""The variables that are bound at a place."""
_Inner = dict[str, Definition | None]
"""The variables of scopes inside the function; None for those that are not followed."""
_Part = tuple[ast.AST, _Inner, bool]
"""A node, the variables of the scopes around it, and whether it is read later."""


class Flow:
    """The definitions of a function's variables, and their reads."""

    def __init__(self, scope: ast.AST) -> None:
        """``scope`` is the syntax of the function, or of a module outside all functions."""
        self._found: dict[ast.Name, Definition] = {}
        self._made: dict[str, list[Definition]] = {}  # without those that others meet in
        self._all: list[Definition] = []  # the same in one
        self._holders: dict[ast.expr, Definition] = {}
        self._named: dict[str, list[ast.Name]] = {}  # each read, but those of variables inside
        self._late: dict[str, dict[ast.Name, None]] = {}  # those that are read later
        self._way: _Way | None = {}  # None behind a `return`
        self._left: list[list[_Way]] = [[]]  # where rounds of the loops around end before their end
        outer = [p for p in nodes(scope) if isinstance(p, (ast.Global, ast.Nonlocal))]
        self._declared: Final = {name for part in outer for name in part.names}
        for argument in _arguments(scope):
            self._define(argument.arg, argument)
        body: list[ast.stmt] | ast.expr = getattr(scope, "body", [])
        if isinstance(body, ast.expr):
            self._look(body)
        else:
            self._block(body)

    def definition(self, read: ast.expr) -> Definition | None:
        """What a read of a variable finds; None where nothing in sight certainly binds it."""
        if not isinstance(read, NAME):
            return None
        if read in self._late.get(read.id, {}):
            made = self.made(read.id)
            return made[0] if len(made) == 1 else None
        return self._found.get(read)

    def value(self, read: ast.expr) -> ast.expr | None:
        """The only expression, above a read, whose value the variable can have there."""
        sources = self.sources(read)
        value = sources[0].value if len(sources) == 1 else None
        return value if value is not None and end_of(value) <= start_of(read) else None

    def sources(self, read: ast.expr) -> list[Definition]:
        """What a read of a variable may find, one of them where ways have met."""
        found = self.definition(read)
        return [one for one in _all_of([found] if found else [], "merged") if not one.merged]

    def made(self, name: str) -> list[Definition]:
        """All definitions of the function's own variable."""
        return self._made.get(name, [])

    def definitions(self, read: ast.expr) -> list[Definition]:
        """All definitions of the variable that is read, which may be a comprehension's."""
        found = self.definition(read)
        if found is not None and isinstance(found.node, ast.comprehension):
            return [found]
        return self.made(read.id) if isinstance(read, NAME) else []

    def holder(self, value: ast.expr) -> Definition | None:
        """The definition that gives a variable the value of an expression, and nothing else."""
        return self._holders.get(value)

    def named(self, name: str) -> list[ast.Name]:
        """All reads of a variable that the function sees, in functions inside as well."""
        return sorted(self._named.get(name, []), key=start_of)

    def reads(self, definition: Definition) -> list[ast.Name]:
        """All reads that may find a definition, by itself or where ways meet."""
        if definition.name in self._declared:
            return self.named(definition.name)
        direct = [read for one in _all_of([definition], "into") for read in one.reads]
        return sorted([*direct, *self._late.get(definition.name, {})], key=start_of)

    def own_reads(self, definition: Definition) -> list[ast.Name] | None:
        """All reads that find a definition, if none of them may find another one."""
        reached = _all_of([definition], "into")
        if any(one.reads and not reached.keys() >= {*one.merged} for one in reached):
            return None
        reads = self.reads(definition)
        return reads if all(self.definition(read) in reached for read in reads) else None

    def _block(self, block: Iterable[ast.stmt]) -> None:
        for statement in block:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.If():
                self._if(statement)
            case ast.For() | ast.AsyncFor() | ast.While():
                self._loop(statement)
            case ast.With() | ast.AsyncWith():
                self._with(statement)
            case ast.Match():
                self._match(statement)
            case ast.stmt() if isinstance(statement, TRIES):
                self._try(statement)
            case _:
                self._simple(statement)
        if isinstance(statement, (ast.Break, ast.Continue)) and self._way and self._left:
            self._left[-1].append(self._way)
        if isinstance(statement, _LEAVING):
            self._way = None

    def _simple(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                self._look(value)
                for target in targets:
                    self._bind(target, statement, value if len(targets) == 1 else None)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._look(value, statement.annotation)
                self._bind(target, statement, value)
            case ast.AugAssign(target=target, value=value):
                self._look(value)
                if isinstance(target, NAME):
                    self._read(target)
                self._bind(target, statement)
            case ast.Delete(targets=targets):
                for target in targets:
                    self._bind(target, statement)
            case _:
                self._look(statement)
                for name in _bound(statement):
                    self._define(name, statement)

    def _if(self, statement: ast.If) -> None:
        ways, count = list[_Way | None](), len(self._all)
        inner: list[ast.stmt] = [statement]
        while len(inner) == 1 and isinstance(inner[0], ast.If):  # no recursion for `elif`
            self._look(inner[0].test)
            before = self._copy()
            self._block(inner[0].body)
            ways.append(self._way)
            self._way, inner = before, inner[0].orelse
        self._block(inner)
        self._join(statement, [*ways, self._way], count)

    def _loop(self, loop: ast.For | ast.AsyncFor | ast.While) -> None:
        meets = loop.test if isinstance(loop, ast.While) else loop.target
        if not isinstance(loop, ast.While):
            self._look(loop.iter)
        way, count = self._copy() or {}, len(self._all)
        names = {name for part in nodes(loop) for name in _bound(part)} - self._declared
        heads = {name: Definition(name, meets).merge([way.get(name)]) for name in names}
        self._way = None if self._way is None else {**way, **heads}
        after = self._copy()
        if isinstance(loop, ast.While):
            self._look(loop.test)
        else:
            self._bind(loop.target, loop)
        self._left.append([])
        self._block(loop.body)
        for way in (*self._left.pop(), self._way or {}):
            for name, head in heads.items():
                head.merge([way.get(name)])
        self._way = None if after is None else {**after}
        self._block(loop.orelse)
        self._join(loop if isinstance(loop, ast.While) else loop.iter, [after, self._way], count)

    def _try(self, statement: ast.Try) -> None:
        before, count, left = self._copy(), len(self._all), len(self._left[-1])
        self._block([*statement.body, *statement.orelse])
        ways = [self._way]
        for handler in statement.handlers:
            self._way = self._interrupted(handler, before, count)
            if handler.type is not None:
                self._look(handler.type)
            for name in _bound(handler):
                self._define(name, handler)
            self._block(handler.body)
            ways.append(self._way)
        self._join(statement, ways, count)
        if statement.finalbody:
            goes_on, last = self._way is not None, len(self._all)
            self._way = self._interrupted(statement, before, count)
            self._block(statement.finalbody)
            self._way = self._way if goes_on else None
            for way in self._left[-1][left:]:  # they pass here, too
                way.update(self._interrupted(statement, way, last) or {})

    def _with(self, statement: ast.With | ast.AsyncWith) -> None:
        before, count = self._copy(), len(self._all)
        for item in statement.items:
            self._look(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, item.optional_vars)
        self._block(statement.body)
        self._way = self._interrupted(statement, before, count)  # it may swallow exceptions

    def _match(self, statement: ast.Match) -> None:
        self._look(statement.subject)
        before, count = self._copy(), len(self._all)
        ways = [before]
        for case in statement.cases:
            self._way = None if before is None else {**before}
            self._look(case.pattern, *([] if case.guard is None else [case.guard]))
            for name in [name for part in nodes(case.pattern) for name in _bound(part)]:
                self._define(name, case.pattern)
            self._block(case.body)
            ways.append(self._way)
        self._join(statement, ways, count)

    def _copy(self) -> _Way | None:
        return None if self._way is None else {**self._way}

    def _join(self, node: Binder, ways: Iterable[_Way | None], count: int) -> None:
        """Go on where ways meet that parted after ``count`` definitions; None has ended."""
        live = [way for way in ways if way is not None]
        self._way = {**live[0]} if live else None
        for name in dict.fromkeys([one.name for one in self._all[count:]]):
            found = [way.get(name) for way in live]
            if self._way is not None and any(one is not found[0] for one in found):
                self._way[name] = Definition(name, node).merge(found)

    def _interrupted(self, node: Binder, before: _Way | None, count: int) -> _Way | None:
        """Where any statement may have led since there were ``count`` definitions."""
        if before is None:
            return None
        made: _Way = {}
        for one in self._all[count:]:
            if one.name not in made:
                made[one.name] = Definition(one.name, node).merge([before.get(one.name)])
            made[one.name].merge([one])
        return {**before, **made}

    def _bind(self, target: ast.expr, node: Binder, value: ast.expr | None = None) -> None:
        """Bind a target, or all that it is unpacked into."""
        match target:
            case ast.Name():
                self._define(target.id, node, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                for inner, given in zip(targets, _members(targets, value), strict=True):
                    self._bind(inner, node, given)
            case ast.Starred(value=inner):
                self._bind(inner, node)
            case _:
                self._look(target)

    def _define(self, name: str, node: Binder, value: ast.expr | None = None) -> None:
        made = Definition(name, node, value)
        if value is not None:
            self._holders[value] = made
        if name in self._declared:
            return
        self._made.setdefault(name, []).append(made)
        self._all.append(made)
        if self._way is not None:
            self._way[name] = made

    def _read(self, name: ast.Name, late: bool = False) -> None:
        self._named.setdefault(name.id, []).append(name)
        found = (self._way or {}).get(name.id)
        if late:
            self._late.setdefault(name.id, {})[name] = None
        elif found is not None:
            self._found[name] = found
            found.reads.append(name)

    def _look(self, *roots: ast.AST) -> None:
        """Read what expressions read, and what a definition inside does."""
        for part in (p for r in roots if not isinstance(r, _INSIDE) for p in nodes(r)):
            if isinstance(part, ast.NamedExpr):  # may run before a read beside it, or not
                before, count = self._copy(), len(self._all)
                self._define(part.target.id, part, part.value)
                self._join(part.target, [before, self._way], count)
        pending: list[_Part] = [(root, {}, False) for root in roots]
        for node, inner, late in pending:  # grows while it is gone through
            if not isinstance(node, NAME):
                pending += _parts(node, inner, late)
            elif not isinstance(node.ctx, ast.Load):
                continue
            elif node.id in inner:
                found = inner[node.id]
                if found is not None:
                    self._found[node] = found
            else:
                self._read(node, late)


def _parts(node: ast.AST, inner: _Inner, late: bool) -> Iterator[_Part]:
    """What is below a node; most of what a scope inside holds has variables of its own."""
    own, of_scope, deferred = inner, list[ast.AST](), True
    at_once = children(node)
    if isinstance(node, _COMPREHENSIONS):
        of_scope = [part for part in at_once if not isinstance(part, ast.comprehension)]
        of_scope += [part for loop in node.generators for part in children(loop)]
        of_scope.remove(node.generators[0].iter)
        at_once, deferred = [node.generators[0].iter], isinstance(node, ast.GeneratorExp)
        targets = [(loop, n) for loop in node.generators for n in nodes(loop.target)]
        made = {n.id: Definition(n.id, loop) for loop, n in targets if isinstance(n, NAME)}
        own = {**inner, **made}
    elif isinstance(node, _INSIDE):
        of_scope = [node.body] if isinstance(node, ast.Lambda) else [*node.body]
        own = {**inner, **dict.fromkeys(_locals(node))}
    yield from ((part, inner, late) for part in at_once if part not in of_scope)
    for part in of_scope:
        skips_class = isinstance(node, ast.ClassDef) and isinstance(part, _FUNCTIONS)
        yield part, inner if skips_class else own, late or deferred


def _locals(scope: ast.AST) -> set[str]:
    """The variables of a function or class inside the function."""
    parts = [*own_nodes(scope)]
    loops = [part for part in parts if isinstance(part, ast.comprehension)]
    targets = {part for loop in loops for part in nodes(loop.target)}
    bound = {name for part in parts if part not in targets for name in _bound(part)}
    return bound | {argument.arg for argument in _arguments(scope)}


def _arguments(scope: ast.AST) -> list[ast.arg]:
    spec = scope.args if isinstance(scope, _FUNCTIONS) else None
    return [] if spec is None else [part for part in children(spec) if isinstance(part, ast.arg)]


def _bound(node: ast.AST) -> list[str]:
    """The names that a node itself binds."""
    if isinstance(node, NAME):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [one.asname or one.name.partition(".")[0] for one in node.names]
    name = getattr(node, BINDING.get(type(node), ""), None)
    return [name] if isinstance(name, str) else []


def _members(targets: list[ast.expr], value: ast.expr | None) -> list[ast.expr | None]:
    """What each of some targets gets of ``a, b = x, y``."""
    given = value.elts if isinstance(value, (ast.Tuple, ast.List)) else []
    plain = not any(isinstance(one, ast.Starred) for one in (*targets, *given))
    return [*given] if plain and len(given) == len(targets) else [None for _ in targets]


def _all_of(
    definitions: Iterable[Definition], way: Literal["merged", "into"]
) -> dict[Definition, None]:
    """Definitions, and those that meet in them, or that they meet others in."""
    found = dict.fromkeys(definitions)
    pending = [*found]
    for one in pending:  # grows while it is gone through
        more = one.merged if way == "merged" else one.into
        pending += [other for other in more if other not in found]
        found.update(dict.fromkeys(more))
    return found
