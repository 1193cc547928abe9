"""Where an event is, and the questions about its surroundings that a proof may ask."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from typing import Concatenate, Final, NamedTuple, ParamSpec, TypeVar, cast

from tclint.config import Settings
from tclint.diagnostics import ChainLink
from tclint.semantics.body import Body
from tclint.semantics.content import ByContent, Fields
from tclint.semantics.flow import Flow
from tclint.semantics.imported import is_imported
from tclint.semantics.symbols import ClassInfo, FunctionInfo, ModuleInfo
from tclint.semantics.values import UNKNOWN, Value
from tclint.torch_facts.starred import BUILTINS

Q = ParamSpec("Q")
R = TypeVar("R")


class Region(ByContent):
    """A compiled region: what a compiled callable, or a module's ``forward``, reaches.

    ``explicit`` is true when a ``torch.compile`` in the project says so; else the region is a
    ``forward`` that somebody may compile. ``settings`` are those of Dynamo that are on, by the
    configuration or by ``fullgraph=True``. ``mode`` is what ``torch.compile`` was asked for.
    """

    __slots__ = ("backend", "explicit", "fullgraph", "mode", "root", "settings")

    def __init__(
        self,
        root: str,
        explicit: bool = False,
        fullgraph: bool = False,
        settings: frozenset[str] = frozenset(),
        backend: str | None = None,
        mode: str | None = None,
    ) -> None:
        self.root: Final = root
        self.explicit: Final = explicit
        self.fullgraph: Final = fullgraph
        self.settings: Final = settings
        self.backend: Final = backend
        self.mode: Final = mode

    def _content(self) -> Fields:
        return (self.root, self.backend, self.mode, *self.behaviour)

    @property
    def behaviour(self) -> tuple[bool, bool, frozenset[str]]:
        """What decides how code inside behaves, whichever root it is reached from."""
        return (self.explicit, self.fullgraph, self.settings)


class Reach(NamedTuple):
    """How often compiled code gets to a place.

    ``off`` says that an ordinary call does not: below a flag that is off unless somebody turns it
    on, and where all that follows is an exception. ``once`` says that what is done there, or around
    it, ends the test: ``FIRST_CALL``, ``ONE_CALL``, or ``NEW_KEY`` for an entry of each key.
    ``drops`` says whether a call between that test and here, or one that leads to the test, is in a
    loop or a `try`; None where there is none between, and the function itself tells.
    """

    off: bool = False
    once: str = ""
    drops: bool | None = None

    def within(self, inner: Reach) -> Reach:
        """What is reached as ``inner`` says, inside of what is reached as this says."""
        once, drops = (self.once, self.drops) if self.once else (inner.once, inner.drops)
        return Reach(self.off or inner.off, once, drops)

    @property
    def rank(self) -> int:
        """Higher for what fewer calls get to."""
        return 2 * self.off + bool(self.once)


EACH_CALL: Final = Reach()
BY_REQUEST: Final = Reach(off=True)
FIRST_CALL: Final = " in the first call"
ONE_CALL: Final = " in one call"
NEW_KEY: Final = " for each new key"


class Facts:
    """What surrounds a place inside its function.

    ``loops``, ``tries`` and ``contexts`` are the enclosing loop, try and with statements, outermost
    first; ``reach`` says which calls get here, ``output`` is the call that puts out what is
    computed here.
    """

    __slots__ = ("contexts", "loops", "output", "reach", "tries")

    def __init__(
        self,
        loops: tuple[ast.stmt, ...] = (),
        tries: tuple[ast.Try, ...] = (),
        contexts: tuple[ast.With | ast.AsyncWith, ...] = (),
        reach: Reach = EACH_CALL,
        output: ast.Call | None = None,
    ) -> None:
        self.loops: Final = loops
        self.tries: Final = tries
        self.contexts: Final = contexts
        self.reach: Final = reach
        self.output: Final = output

    @property
    def default_off(self) -> bool:
        """True where a call gets only if somebody asks for it, or to an exception."""
        return self.reach.off

    @property
    def recurs(self) -> bool:
        """False for what only one call does."""
        return self.reach.once not in {FIRST_CALL, ONE_CALL}

    @property
    def drops_frame(self) -> bool:
        """True where a graph break sends the whole frame to eager instead of splitting it."""
        return bool(self.loops or self.tries)


def _written(call: ast.Call) -> Iterator[ast.expr]:
    """The arguments of a call up to the first star."""
    for argument in call.args:
        if isinstance(argument, ast.Starred):
            return
        yield argument


class Site:
    """The place of an event and everything a rule may ask about it."""

    __slots__ = ("body", "chain", "facts", "region", "settings", "statement")

    def __init__(
        self,
        body: Body,
        region: Region | None,
        statement: ast.stmt,
        facts: Facts,
        chain: tuple[ChainLink, ...],
        settings: Settings,
    ) -> None:
        self.body: Final = body
        self.region: Final = region
        self.statement: Final = statement
        self.facts: Final = facts
        self.chain: Final = chain
        self.settings: Final = settings

    @property
    def function(self) -> FunctionInfo | None:
        """The function that the event is in; None at module level."""
        return self.body.function

    @property
    def cls(self) -> ClassInfo | None:
        """The class whose method the event is in."""
        return self.body.function.cls if self.body.function else None

    @property
    def module(self) -> ModuleInfo:
        """The file's module."""
        return self.body.module

    @property
    def flow(self) -> Flow:
        """Which definition of a variable each read in the function finds."""
        return self.body.flow

    def has_setting(self, name: str) -> bool:
        """True where code is compiled with a setting of Dynamo on."""
        return self.region is not None and name in self.region.settings

    def value(self, node: ast.AST) -> Value:
        """The value of an expression of this function, joined over all the ways it was reached."""
        return self.body.values.get(node, UNKNOWN)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The syntax node directly around ``node``."""
        return self.body.parent(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around ``node``, innermost first, up to the function."""
        outer = self.body.parent(node)
        while outer is not None:
            yield outer
            outer = self.body.parent(outer)

    def loads(self, name: str) -> list[ast.Name]:
        """Every read of a local variable in this function."""
        return [n for n in self.body.names(name) if isinstance(n.ctx, ast.Load)]

    def stores(self, name: str) -> list[ast.Name]:
        """Every binding or deletion of a local variable in this function."""
        return [n for n in self.body.names(name) if not isinstance(n.ctx, ast.Load)]

    def given(self, parameter: str) -> Iterator[tuple[Site, ast.expr]]:
        """What the calls in compiled code pass for a parameter, as they write it."""
        if isinstance(self.body.scope, ast.Module):
            return
        arguments = self.body.scope.args
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
        for call, (site, hidden) in self.body.calls.items():
            passed = dict(zip(names[hidden:], _written(call), strict=False))
            passed |= {one.arg: one.value for one in call.keywords if one.arg}
            if parameter in passed:
                yield site, passed[parameter]

    def text(self, node: ast.expr | ast.stmt) -> str:
        """The source text of a node."""
        file = self.module.file
        return file.excerpt(file.span(node))

    def dotted(self, node: ast.expr) -> str | None:
        """The dotted name that an expression stands for, following imports: ``torch.arange``.

        A ``len`` that the file makes itself is not Python's, and has none.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        base = self.module.imports.get(node.id)
        own = base is None and node.id in BUILTINS and self.module.makes(node.id)
        if own or self._shadowed(node.id):
            return None
        return ".".join([base or node.id, *reversed(parts)])

    def spell(self, dotted: str) -> str | None:
        """How this file can write a library name with the imports that it has; None if it cannot.

        ``torch.nn.functional.relu`` may come back as ``F.relu``.
        """
        best: str | None = None
        for local, target in self.module.imports.items():
            if dotted != target and not dotted.startswith(target + "."):
                continue
            if self._shadowed(local) or not is_imported(self.body, self.statement, local):
                continue
            spelled = local + dotted[len(target) :]
            if best is None or len(spelled) < len(best):
                best = spelled
        return best

    def _shadowed(self, name: str) -> bool:
        return (
            name in self.module.rebound
            or self.body.assigns(name)
            or any(arg.arg == name for arg in self._arguments())
            or self.body.binds(name)
        )

    def _arguments(self) -> Iterator[ast.arg]:
        if isinstance(self.body.scope, ast.Module):
            return
        arguments = self.body.scope.args
        yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        yield from (a for a in (arguments.vararg, arguments.kwarg) if a)


def once(
    question: Callable[Concatenate[Site, Q], R],
) -> Callable[Concatenate[Site, Q], R]:
    """Make a question about a function remember its answers, for all the events in the function.

    For what depends on the function's syntax and values alone, not on the place or the region: a
    function of thousands of lines has thousands of events that ask the same.
    """

    @wraps(question)
    def asked(site: Site, *args: Q.args, **kwargs: Q.kwargs) -> R:
        key: tuple[Hashable, ...] = (question, *args, *kwargs.items())
        answers = site.body.answers
        if key not in answers:
            answers[key] = question(site, *args, **kwargs)
        return cast("R", answers[key])

    return cast("Callable[Concatenate[Site, Q], R]", asked)
