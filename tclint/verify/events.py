"""What an arm ran into, line by line, as plain frozen data."""

from __future__ import annotations

from tclint.records import record


@record(frozen=True)
class Frame:
    """One line of a user's stack."""

    filename: str
    row: int
    function: str


@record(frozen=True)
class Break:
    """One place where Dynamo broke the graph.

    ``filename`` and ``row`` name the last line of the user's own code; ``stack`` goes on into
    libraries. ``gb_ids`` holds the follow-up breaks too (a break inside a loop drops the frame).
    ``by_torch`` marks the breaks that torch's own code asks for, as every optimizer step does.
    ``settings`` are those of ``torch._dynamo.config`` that torch says would capture the operation.
    """

    gb_id: str | None
    gb_ids: tuple[str, ...]
    reason: str
    explanation: str
    filename: str
    row: int
    stack: tuple[Frame, ...]
    drops_frame: bool = False
    by_torch: bool = False
    settings: tuple[str, ...] = ()


@record(frozen=True)
class Recompile:
    """A function compiled again because a guard failed; ``limit_reached``: it now runs eagerly."""

    compile_id: str
    reason: str
    filename: str
    row: int
    limit_reached: bool = False


@record(frozen=True)
class EagerFrame:
    """A function that Dynamo gave up on: all of it runs eagerly."""

    function: str
    filename: str
    row: int
    reason: str


@record(frozen=True)
class Sync:
    """A line where the CPU waited for the GPU, ``count`` times in one call.

    ``filename`` and ``row`` name the last line of the user's own code; ``stack``, of the first
    time, goes on into libraries.
    """

    filename: str
    row: int
    count: int
    stack: tuple[Frame, ...] = ()


@record(frozen=True)
class Output:
    """A line of the user's that prints or logs, ``count`` times in one eager call.

    ``milliseconds`` are what all of them took together, the making of the text included.
    """

    filename: str
    row: int
    what: str
    count: int
    milliseconds: float


@record(frozen=True)
class Equality:
    """How two runs compare.

    ``verdict`` is ``"identical"`` (bit for bit), ``"close"`` (within ``tolerance``),
    ``"different"``, ``"not-deterministic"`` (eager runs with equal seeds differ among themselves)
    or ``"unknown"`` (not comparable; ``detail`` says why). Errors are the largest ones seen.
    ``basis`` says what ``tolerance`` is measured by: ``"largest"`` (the error, relative to the
    largest magnitude in a tensor) or ``"float64"`` (the error against a run in float64, as a
    multiple of eager's own).
    """

    verdict: str
    detail: str = ""
    max_abs: float = 0.0
    max_rel: float = 0.0
    tolerance: float = 0.0
    basis: str = "largest"

    @property
    def equal(self) -> bool | None:
        """True or False where the comparison could be made."""
        if self.verdict in {"unknown", "not-deterministic"}:
            return None
        return self.verdict != "different"
