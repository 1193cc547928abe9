"""How the analysis came to each function: kept only for who asks why a line is not reported."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import ChainLink
from tclint.semantics.records import record
from tclint.semantics.site import Region

if TYPE_CHECKING:
    from tclint.semantics.events import Event
    from tclint.semantics.interpreter.frame import Frame
    from tclint.semantics.symbols import FunctionInfo, ModuleInfo


@record(frozen=True)
class Walk:
    """One walk of a function: in which region, by which calls from the ``start`` of that.

    ``place`` is where the program compiles the start. Without a region it is code that sets up,
    which nothing compiles. ``off`` says that the way leads below a flag that is off by default, or
    to an exception.
    """

    region: Region | None
    start: FunctionInfo | None
    place: ChainLink | None
    chain: tuple[ChainLink, ...]
    off: bool


@record(frozen=True)
class Quiet:
    """An event that was not reported for what is around it: an exception, an ``assert``."""

    event: type[Event]
    node: ast.AST
    statement: ast.stmt
    module: ModuleInfo


class Trace:
    """What the interpreter notes while it walks."""

    def __init__(self) -> None:
        self.walks: Final[dict[ast.AST, list[Walk]]] = {}
        self.quiet: Final[list[Quiet]] = []
        self._start: FunctionInfo | None = None
        self._place: ChainLink | None = None

    def started(self, info: FunctionInfo, place: ChainLink | None) -> None:
        """Note that all that is walked now is reached from a function."""
        self._start, self._place = info, place

    def walked(
        self, info: FunctionInfo, region: Region | None, chain: tuple[ChainLink, ...], off: bool
    ) -> None:
        """Note that a function is walked now."""
        walk = Walk(region, self._start, self._place, chain, off)
        self.walks.setdefault(info.node, []).append(walk)

    def quieted(self, event: type[Event], node: ast.AST, frame: Frame) -> None:
        """Note that an event was not reported."""
        self.quiet.append(Quiet(event, node, frame.statement, frame.body.module))

    def in_regions(self, node: ast.AST) -> list[Walk]:
        """The walks of a function in compiled code, the sure ones first."""
        walks = [walk for walk in self.walks.get(node, ()) if walk.region is not None]
        return sorted(walks, key=lambda walk: walk.off)
