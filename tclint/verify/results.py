"""What a verification found out, as plain frozen data that travels between processes as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a user's stack."""

    filename: str
    row: int
    function: str


@dataclass(frozen=True, slots=True)
class Break:
    """One place where Dynamo broke the graph.

    ``filename`` and ``row`` name the last line of the user's own code; ``stack`` goes on into
    libraries. ``gb_ids`` holds the follow-up breaks too (a break inside a loop drops the frame).
    ``by_torch`` marks the breaks that torch's own code asks for, as every optimizer step does.
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


@dataclass(frozen=True, slots=True)
class Recompile:
    """A function compiled again because a guard failed; ``limit_reached``: it now runs eagerly."""

    compile_id: str
    reason: str
    filename: str
    row: int
    limit_reached: bool = False


@dataclass(frozen=True, slots=True)
class EagerFrame:
    """A function that Dynamo gave up on: all of it runs eagerly."""

    function: str
    filename: str
    row: int
    reason: str


@dataclass(frozen=True, slots=True)
class Sync:
    """A line where the CPU waited for the GPU, ``count`` times in one call."""

    filename: str
    row: int
    count: int


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds per call: the median, the quartiles and how many samples they come from."""

    median: float
    lower: float
    upper: float
    samples: int

    @property
    def spread(self) -> float:
        """The interquartile range."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class Memory:
    """Peak bytes. CUDA graphs hide in ``reserved``; on a CPU only ``resident`` is known."""

    allocated: int | None = None
    reserved: int | None = None
    resident: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a child gave no result.

    ``kind`` is ``"exception"``, ``"exit"``, ``"crash"``, ``"timeout"``, ``"out-of-memory"`` or
    ``"target"`` (the factory broke its contract).
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Equality:
    """How two runs compare.

    ``verdict`` is ``"identical"`` (bit for bit), ``"close"`` (within ``tolerance``),
    ``"different"`` or ``"unknown"`` (not comparable; ``detail`` says why). Errors are the largest
    ones seen; ``tolerance`` is relative to the largest magnitude in a tensor.
    """

    verdict: str
    detail: str = ""
    max_abs: float = 0.0
    max_rel: float = 0.0
    tolerance: float = 0.0

    @property
    def equal(self) -> bool | None:
        """True or False where the comparison could be made."""
        if self.verdict == "unknown":
            return None
        return self.verdict != "different"


@dataclass(frozen=True, slots=True)
class Probe:
    """What the break-counting run of one arm saw.

    ``graphs`` are the graphs of the first call, ``ops`` their sizes. ``gate`` is what
    ``error_on_graph_break`` said: ``"whole"``, ``"breaks"`` or ``"unavailable"``. ``itself`` is
    true when the target calls ``torch.compile`` on its own. ``like_before`` compares this arm's
    eager run with the other arm's.
    """

    torch: str
    device: str
    itself: bool
    gate: str
    breaks: tuple[Break, ...]
    ops: tuple[int, ...]
    recompiles: tuple[Recompile, ...]
    eager_frames: tuple[EagerFrame, ...]
    syncs: tuple[Sync, ...] | None
    like_eager: Equality
    like_before: Equality | None
    loaded: tuple[str, ...]

    @property
    def graphs(self) -> int:
        """Number of graphs that the first call compiled."""
        return len(self.ops)


@dataclass(frozen=True, slots=True)
class Speed:
    """What the timed run of one arm measured; ``cold_start`` is the first call, in seconds."""

    cold_start: float
    eager: Timing
    compiled: Timing
    memory: Memory
    syncs: tuple[Sync, ...] | None
    recompiles: tuple[Recompile, ...]
    like_eager: Equality


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a comparison: ``name`` is ``"before"`` or ``"after"``.

    ``speed`` is None where nothing could be timed; ``no_speed`` says why.
    """

    name: str
    probe: Probe | None
    speed: Speed | None = None
    no_speed: str = ""
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A break seen while running, a static finding, or both at one line.

    ``status`` is ``"confirmed"``, ``"missed"`` (no rule saw it) or ``"not-seen"`` (at run time).
    """

    arm: str
    status: str
    filename: str
    row: int
    gb_id: str | None = None
    code: str | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class TargetReport:
    """Everything about one target. ``speedup`` is None when no difference could be measured."""

    target: str
    arms: tuple[Arm, ...]
    equality: Equality
    speedup: float | None
    speed_note: str
    joined: tuple[Joined, ...] = ()

    @property
    def after(self) -> Arm:
        """The arm that counts for the exit code."""
        return self.arms[-1]


def breaks_from(items: list[Mapping[str, Any]]) -> tuple[Break, ...]:
    """Rebuild breaks from JSON."""
    return tuple(
        Break(
            **{
                **item,
                "gb_ids": tuple(item["gb_ids"]),
                "stack": tuple(Frame(**frame) for frame in item["stack"]),
            }
        )
        for item in items
    )


def probe_from(data: Mapping[str, Any]) -> Probe:
    """Rebuild a probe from JSON."""
    before = data["like_before"]
    return Probe(
        torch=data["torch"],
        device=data["device"],
        itself=data["itself"],
        gate=data["gate"],
        breaks=breaks_from(data["breaks"]),
        ops=tuple(data["ops"]),
        recompiles=tuple(Recompile(**item) for item in data["recompiles"]),
        eager_frames=tuple(EagerFrame(**item) for item in data["eager_frames"]),
        syncs=syncs_from(data["syncs"]),
        like_eager=Equality(**data["like_eager"]),
        like_before=None if before is None else Equality(**before),
        loaded=tuple(data["loaded"]),
    )


def syncs_from(items: list[Mapping[str, Any]] | None) -> tuple[Sync, ...] | None:
    """Rebuild host syncs from JSON."""
    return None if items is None else tuple(Sync(**item) for item in items)
