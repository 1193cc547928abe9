"""How far the analysis goes: every number that keeps a run's cost down, and what it cuts off.

A bound that cuts something off says so, or nobody would know that findings are missing. Each is a
:class:`Bound` with a name of its own; where it cuts, the analysis that runs notes the place.
"""

from __future__ import annotations

import ast
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from tclint.diagnostics import ChainLink

if TYPE_CHECKING:
    from tclint.semantics.body import Body
    from tclint.semantics.site import Region
    from tclint.semantics.symbols import ModuleInfo


class Place(Protocol):
    """Where the analysis is: a frame, or the site of an event."""

    @property
    def body(self) -> Body:
        """The function that is walked."""

    @property
    def region(self) -> Region | None:
        """The compiled region that is walked."""

    @property
    def statement(self) -> ast.stmt:
        """The statement that is walked."""

    @property
    def chain(self) -> tuple[ChainLink, ...]:
        """The calls that led there."""


class Cut(NamedTuple):
    """Where something was cut off: the file, the function, the statement, the calls to there."""

    module: ModuleInfo
    scope: ast.AST
    statement: ast.stmt
    chain: tuple[ChainLink, ...]


class Bound:
    """A number beyond which something is not followed.

    ``what`` says what is more than ``most``, as in "more than 24 calls deep". ``hides`` is False
    where no finding is lost beyond it: a fix is declined, a finding is less sure, or what was seen
    stands for the rest. ``in_regions``: what is cut off in code that sets up is none's loss.
    ``in_values``: of code that sets up, a statement that only calls loses nothing either, as what
    it passes is joined with what other calls pass, and its value is not used.
    ``instead`` is what to do about it, where that is not to check what is called by itself.
    """

    def __init__(
        self,
        most: int,
        what: str,
        *,
        hides: bool = True,
        in_regions: bool = False,
        in_values: bool = False,
        instead: str = "",
    ) -> None:
        self.most = most
        self.what: Final = what
        self.instead: Final = instead
        self.hides: Final = hides
        self.in_regions: Final = in_regions
        self.in_values: Final = in_values
        BOUNDS.append(self)

    def __str__(self) -> str:
        return f"more than {self.most:,} {self.what}"

    def cut(self) -> None:
        """Note that something is cut off where the analysis is."""
        cuts = _RUNNING.get()
        if cuts is not None and not self._loses_nothing(cuts.place):
            cuts.note(self, cuts.here())

    def _loses_nothing(self, place: Place | None) -> bool:
        """True where no finding can hang on what is cut off."""
        if place is None or place.region is not None:
            return self.in_regions and place is None
        return self.in_regions or (self.in_values and isinstance(place.statement, ast.Expr))


class Unclear:
    """A name of which nobody can tell what it means, so that what is behind it is not followed.

    ``what`` says why. All of one ``cause`` are equal, so that it is told once in a file: where a
    compiled region first uses such a name.
    """

    hides: Final = True

    def __init__(self, what: str, instead: str, cause: str) -> None:
        self.what: Final = what
        self.instead: Final = instead
        self.cause: Final = cause

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unclear) and self.cause == other.cause

    def __hash__(self) -> int:
        return hash(self.cause)

    def __str__(self) -> str:
        return self.what

    def cut(self) -> None:
        """Note that the name is used where the analysis is."""
        cuts = _RUNNING.get()
        here = cuts.here() if cuts is not None else None
        if cuts is not None and here is not None and cuts.place and cuts.place.region is not None:
            cuts.note(self, here._replace(scope=here.module.tree))


BOUNDS: Final[list[Bound]] = []
"""All of them, in the order in which their modules are imported."""


class Cuts:
    """What bounds cut off in one analysis, each at the first place in a function.

    ``too_deep`` is the first call of eager code that is not followed: whether that matters is known
    in the end.
    """

    def __init__(self) -> None:
        self.place: Place | None = None
        self.too_deep: Cut | None = None
        self.found: Final[dict[tuple[Bound | Unclear, ast.AST], Cut]] = {}
        _RUNNING.set(self)

    def here(self) -> Cut | None:
        """The present place."""
        at = self.place
        return None if at is None else Cut(at.body.module, at.body.scope, at.statement, at.chain)

    def note(self, bound: Bound | Unclear, cut: Cut | None) -> None:
        """Note what is cut off at a place."""
        if cut is not None:
            self.found.setdefault((bound, cut.scope), cut)


_RUNNING: Final[ContextVar[Cuts | None]] = ContextVar("cuts", default=None)
