"""What tclint tells people: diagnostics, and the fixes that go with them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final, NamedTuple

from tclint.records import record


class Effect(str, Enum):
    """What a finding costs when the code runs."""

    GRAPH_BREAK = "graph-break"
    RECOMPILE = "recompile"
    HOST_SYNC = "host-sync"
    DEVICE_COPY = "device-copy"
    LAUNCH_OVERHEAD = "launch-overhead"
    COLD_START = "cold-start"
    INVALID = "invalid"
    NONE = "none"


class Confidence(str, Enum):
    """How sure the analysis is that the effect happens when the line runs."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Worth(str, Enum):
    """What removing the effect saves where the line runs in every step.

    A hint saves next to nothing in most programs: under 1% of a step. ``LOW`` is under 5% or a cost
    that comes once, ``MEDIUM`` under 20%, and ``HIGH`` more, or code that does not do what it says.
    """

    HINT = "hint"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


USUAL_WORTH: Final[Mapping[Effect, Worth]] = {
    Effect.INVALID: Worth.HIGH,
    Effect.GRAPH_BREAK: Worth.MEDIUM,
    Effect.RECOMPILE: Worth.MEDIUM,
    Effect.HOST_SYNC: Worth.LOW,
    Effect.DEVICE_COPY: Worth.LOW,
    Effect.LAUNCH_OVERHEAD: Worth.LOW,
    Effect.COLD_START: Worth.LOW,
    Effect.NONE: Worth.LOW,
}
"""What an effect is taken to be worth where nobody has measured."""


class Change(str, Enum):
    """How far a program may differ from what it was: the scale, in this order.

    ``SAME_BITS``: nothing differs, on a CPU or a GPU, with one device or several, in any dtype:
    numbers, gradients, dtypes, devices, types, exceptions, state and output. ``ROUNDING``: the last
    bits of numbers differ, as after a sum in another order. ``PRECISION``: numbers are computed in
    another precision. ``BEHAVIOUR``: anything else.
    """

    SAME_BITS = "same-bits"
    ROUNDING = "rounding"
    PRECISION = "precision"
    BEHAVIOUR = "behaviour"


class Applicability(str, Enum):
    """Whether a fix may be applied without a human reading it first.

    A rule's fix is safe where it leaves the same bits.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@record(frozen=True, order=True)
class Position:
    """A place in a text file: both numbers are 1-based, columns count characters."""

    row: int
    column: int


@record(frozen=True, order=True)
class Span:
    """A half-open stretch of text: ``end`` is the first place after it."""

    start: Position
    end: Position


@record(frozen=True, order=True)
class Edit:
    """Replace the text of ``span`` by ``content``; an empty span inserts."""

    span: Span
    content: str


@record(frozen=True)
class Fix:
    """Edits of one file that belong together: all of them are applied, or none."""

    message: str
    applicability: Applicability
    change: Change
    edits: tuple[Edit, ...]


@record(frozen=True)
class Decline:
    """Why a finding has no fix, in words that name the obstacle in the user's code."""

    reason: str


class Advice(Decline):
    """Why a finding has no fix, in words that say what its author can do instead."""


class ChainLink(NamedTuple):
    """One step from a compiled region's root towards the reported line."""

    function: str
    filename: str
    row: int


@record(frozen=True)
class Remedy:
    """Settings of Dynamo with which a break goes, though its line stays as it is.

    ``changes`` says what else they change or risk. ``lines`` are statements to run before the
    compiled code is called, and ``places`` where the project compiles it: none where somebody else
    does.
    """

    message: str
    changes: str
    lines: tuple[str, ...] = ()
    places: tuple[ChainLink, ...] = ()


@record(frozen=True)
class Diagnostic:
    """One reported place.

    ``message`` is a headline: what happens, and what it costs. ``instead`` says in one line what to
    do: what the fix does, where there is one, otherwise what its author can write.
    ``fixable`` says how a fix would be applied, if there is one; its edits are worked out only
    when someone asks for them, because that needs LibCST. ``related`` are other places of the same
    file where the effect shows: the uses of a loop variable, the `wait()` of a collective.
    ``remedies`` are settings that remove the effect.
    """

    code: str
    name: str
    message: str
    effect: Effect
    confidence: Confidence
    path: Path
    span: Span
    related: tuple[Span, ...] = ()
    gb_ids: tuple[str, ...] = ()
    chain: tuple[ChainLink, ...] = ()
    fixable: Applicability | None = None
    fix_message: str | None = None
    declined: Decline | None = None
    url: str | None = None
    remedies: tuple[Remedy, ...] = ()
    worth: Worth = Worth.LOW
    instead: str = ""

    @property
    def weak(self) -> bool:
        """Whether only the reader can say that it matters: unsure, or cheap in most programs."""
        return self.confidence is Confidence.LOW or self.worth is Worth.HINT
