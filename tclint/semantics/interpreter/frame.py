"""One activation of one function: its variables, what surrounds the current statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import ChainLink
from tclint.semantics.body import Body
from tclint.semantics.lattice import join, same
from tclint.semantics.records import record
from tclint.semantics.site import EACH_CALL, Facts, Reach, Region, Site
from tclint.semantics.values import Mapping, Sequence, Static, Union, Value

if TYPE_CHECKING:
    from tclint.semantics.interpreter.analysis import Analysis
    from tclint.semantics.interpreter.correlation import Decided

Env = dict[str, Value]
NOWHERE: Final = Facts()
_CHANGING: Final = (Static, Sequence, Mapping, Union)


@record(eq=False)
class LoopExits:
    """The variables as they are where a loop is left or continued early."""

    breaks: list[Env] = field(default_factory=list)
    continues: list[Env] = field(default_factory=list)


class Frame:
    """The state of walking one function body.

    ``live`` is false after a statement that never falls through. ``quiet`` names the events that
    are not reported at the moment, or ``HostRead.item`` for those that come about in one way
    (inside an ``assert``, a ``raise``, the arguments of a ``print``); ``quieted`` counts them,
    ``reads`` all that need a tensor's or an array's data. ``numpy_uses`` collects places where a
    numpy loop variable is needed as a Python number, while loops or comprehensions are walked
    (``rounds`` counts those around): a loop over numpy tells of them (``numpy_told``), the
    outermost one of what is left. ``moves`` are the ``.to()`` calls around calls being evaluated;
    ``tracked`` the variables with attributes that are followed (``self`` of ``self.cache``),
    ``named`` those that ``:=`` binds, ``decided`` those whose value hangs on a condition,
    ``shapeless`` those whose ranks were forgotten, with the value that they have since then.
    ``behind`` says how often calls get past an `if` that left the block on one side.
    ``env`` is changed in place: whoever forks copies.

    No dataclass: mypyc makes this class, the one most asked, a native one.
    """

    def __init__(
        self,
        analysis: Analysis,
        body: Body,
        region: Region | None,
        chain: tuple[ChainLink, ...],
        env: Env,
        statement: ast.stmt,
        outer: Frame | None = None,
        facts: Facts = NOWHERE,
    ) -> None:
        """Stand before the first statement of a function, inside ``outer`` if it is nested."""
        self.analysis = analysis
        self.body = body
        self.region = region
        self.chain = chain
        self.env = env
        self.statement = statement
        self.outer = outer
        self.facts = facts
        self.live = True
        self.quiet: frozenset[str] = frozenset()
        self.quieted = 0
        self.reads = 0
        self.returns: list[Value] = []
        self.yields: list[Value] = []
        self.loops: list[LoopExits] = []
        self.numpy_uses: list[ast.expr] = []
        self.numpy_told: set[ast.expr] = set()
        self.rounds = 0
        self.moves: dict[ast.expr, ast.Call] = {}
        self.tracked: set[str] = set()
        self.named: set[str] = set()
        self.decided: dict[str, Decided] = {}
        self.shapeless: dict[str, Value] = {}
        self.behind: Callable[[list[ast.stmt]], Reach] | None = None

    def lookup(self, name: str) -> Value:
        """The value of a variable: local, of an enclosing function, global or builtin."""
        value = self.env.get(name)
        if value is not None:
            return value
        frame = self.outer
        while frame is not None:
            value = frame.env.get(name)
            if value is not None:
                return self._later(frame, name, value)
            frame = frame.outer
        value = self.analysis.global_or_builtin(self.body, name)
        if self.region is not None and isinstance(value, _CHANGING):
            return self.analysis.changes.variable(self, self.body.module, name, value)
        return value

    def _later(self, owner: Frame, name: str, value: Value) -> Value:
        """What a variable of a function around may be: functions inside it may write to it."""
        if self.region is None or not isinstance(value, _CHANGING):
            return value
        return self.analysis.changes.enclosed(self, owner, name, value)

    def enclosed(self, name: str) -> Value | None:
        """The value of a variable of this function or one around it."""
        frame: Frame | None = self
        while frame is not None:
            value = frame.env.get(name)
            if value is not None:
                return value
            frame = frame.outer
        return None

    def restore(self, before: Env) -> None:
        """Go back to the variables before a part of an expression that may not be evaluated.

        What ``:=`` bound in it stays.
        """
        for name in self.named:
            value, known = self.env.get(name), before.get(name)
            if value is not None and value is not known:
                before[name] = value if known is None else join((known, value))
        self.env = before

    def site(self) -> Site:
        """The current place, for an event."""
        return Site(
            self.body,
            self.region,
            self.statement,
            self.facts,
            (*self.chain, self.link(self.statement.lineno)),
            self.analysis.settings,
        )

    def link(self, row: int) -> ChainLink:
        """The chain link of this function at a line."""
        known = self.body.links.get(row)
        if known is None:
            info = self.body.function
            name = info.qualname if info else "<module>"
            known = ChainLink(name, str(self.body.module.file.path), row)
            self.body.links[row] = known
        return known

    def silencing(self, *events: str) -> Inside:
        """Do not report the named events inside the block."""
        return Inside(self, self.quiet | set(events), self.facts)

    def within(
        self,
        *,
        loop: ast.stmt | None = None,
        attempt: ast.Try | None = None,
        context: ast.With | ast.AsyncWith | None = None,
        reach: Reach = EACH_CALL,
        output: ast.Call | None = None,
    ) -> Inside:
        """Mark what surrounds the statements, or the arguments, walked inside the block."""
        before = self.facts
        facts = Facts(
            (*before.loops, loop) if loop else before.loops,
            (*before.tries, attempt) if attempt else before.tries,
            (*before.contexts, context) if context else before.contexts,
            before.reach if reach is EACH_CALL else before.reach.within(reach),
            output or before.output,
        )
        return Inside(self, self.quiet, facts)


class Inside:
    """A block in which a frame is quieter, or surrounded by more; native, so it costs little."""

    def __init__(self, frame: Frame, quiet: frozenset[str], facts: Facts) -> None:
        """Remember what the frame is to be, and what it was."""
        self._frame = frame
        self._inside = (quiet, facts)
        self._before = (frame.quiet, frame.facts)

    def __enter__(self) -> None:
        """Change the frame."""
        self._frame.quiet, self._frame.facts = self._inside

    def __exit__(self, *raised: object) -> None:
        """Change it back."""
        self._frame.quiet, self._frame.facts = self._before


def merge(envs: Iterable[Env]) -> Env:
    """The variables after branches meet; a variable bound on some paths keeps those values."""
    first, *others = envs
    merged = dict(first)
    for other in others:
        for name, value in other.items():
            known = merged.get(name)
            if known is None:
                merged[name] = value
            elif not same(known, value):
                merged[name] = join((known, value))
    return merged
