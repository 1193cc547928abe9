"""What a verification found out, as plain frozen data that travels between processes as JSON."""

from __future__ import annotations

from tclint.records import record
from tclint.verify.events import Break, EagerFrame, Equality, Output, Recompile, Sync
from tclint.verify.speed import Speed, Speedup, Timing


@record(frozen=True)
class Failure:
    """Why a child gave no result.

    ``kind`` is ``"exception"``, ``"exit"``, ``"crash"``, ``"timeout"``, ``"out-of-memory"``,
    ``"device"`` (CUDA can do nothing more) or ``"target"`` (the factory broke its contract).
    """

    kind: str
    message: str


@record(frozen=True)
class Remedy:
    """A setting of ``torch.compile`` or Dynamo, and how many of the user's breaks it leaves."""

    setting: str
    breaks: int


@record(frozen=True)
class Probe:
    """What the break-counting run of one arm saw.

    ``graphs`` are the graphs of the first call, ``ops`` their sizes. ``gate`` is what
    ``error_on_graph_break`` said: ``"whole"``, ``"breaks"`` or ``"unavailable"``; ``fullgraph``
    what ``fullgraph=True`` said (it captures more than the default): ``"possible"``, ``"refused"``
    or ``"unavailable"``. ``itself`` is true when the target calls ``torch.compile`` on its own.
    ``like_before`` compares this arm's eager run with the other arm's.

    ``varied`` is the number of other inputs, ``like_varied`` compares what compiled code gives for
    these, after the first ones, with eager code.

    ``nothing_compiled`` says why there are no graphs, ``remedies`` what would leave fewer breaks,
    ``outputs`` what eager code prints. ``unfinished`` names what was not known when time was up.
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
    phase: str = "forward"
    fullgraph: str = "unavailable"
    fullgraph_reason: str = ""
    unstable: str = ""
    nothing_compiled: str = ""
    remedies: tuple[Remedy, ...] = ()
    outputs: tuple[Output, ...] = ()
    unfinished: tuple[str, ...] = ()
    varied: int = 0
    like_varied: Equality | None = None

    @property
    def graphs(self) -> int:
        """Number of graphs that the first call compiled."""
        return len(self.ops)

    @property
    def user_breaks(self) -> tuple[Break, ...]:
        """The breaks that are not torch's own."""
        return tuple(one for one in self.breaks if not one.by_torch)


@record(frozen=True)
class Untimed:
    """A mode that could not be timed, and why; an empty mode stands for all.

    ``fault``: it is compiled code that fails, not something that is missing here.
    """

    mode: str
    reason: str
    fault: bool = False


@record(frozen=True)
class Compiled:
    """The first call of what the chosen backend made of a target, compared with an eager call.

    ``recompiles`` are those of the calls that warmed it up.
    """

    mode: str
    backend: str
    like_eager: Equality
    cold_start: float
    recompiles: tuple[Recompile, ...] = ()


@record(frozen=True)
class Arm:
    """One side of a comparison: ``name`` is ``"before"`` or ``"after"``.

    ``speeds`` holds one entry for each mode that could be timed, ``untimed`` the others;
    ``compiled`` one for each mode that was compiled for real, timed or not. An arm with a
    ``failure`` may have a ``probe`` all the same: what was known by then.
    """

    name: str
    probe: Probe | None
    speeds: tuple[Speed, ...] = ()
    untimed: tuple[Untimed, ...] = ()
    failure: Failure | None = None
    compiled: tuple[Compiled, ...] = ()

    @property
    def numbers(self) -> tuple[Compiled, ...]:
        """What each mode computed, of all that compiled: timed ones need no entry of their own."""
        known = {one.mode: one for one in self.compiled}
        for speed in self.speeds:
            backend = known[speed.mode].backend if speed.mode in known else ""
            known[speed.mode] = Compiled(
                speed.mode, backend, speed.like_eager, speed.cold_start, speed.recompiles
            )
        return tuple(known.values())

    @property
    def no_speed(self) -> str:
        """Why the first mode that could not be timed could not; empty if all could."""
        return self.untimed[0].reason if self.untimed else ""

    @property
    def speed(self) -> Speed | None:
        """The speed in the first mode that could be timed."""
        return self.speeds[0] if self.speeds else None

    def speed_in(self, mode: str) -> Speed | None:
        """The speed in one mode."""
        return next((speed for speed in self.speeds if speed.mode == mode), None)

    def no_speed_in(self, mode: str) -> str:
        """Why one mode could not be timed."""
        return next((one.reason for one in self.untimed if one.mode in {"", mode}), "")


@record(frozen=True)
class AppliedFix:
    """A fix that ``--fixed`` made in the arm "after": its place is that of the finding."""

    code: str
    filename: str
    row: int
    message: str


@record(frozen=True)
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


@record(frozen=True)
class Rung:
    """One rung of the ablation ladder: a backend, and what became of the target with it."""

    backend: str
    layer: str
    outcome: str
    fine: bool


@record(frozen=True)
class Diagnosis:
    """Which layer of the compiler is at fault, and what to run to see it.

    ``layer`` is empty when every rung of the ladder was fine.
    """

    layer: str
    rungs: tuple[Rung, ...]
    minifier: str
    scripts: tuple[str, ...] = ()


@record(frozen=True)
class Rank:
    """One process of a distributed run.

    ``digest`` stands for its weights and gradients, which are those of all ranks where it is
    ``tied`` to them; ``untimed`` says why its compiled form has no time.
    """

    rank: int
    failure: Failure | None = None
    breaks: tuple[Break, ...] = ()
    graphs: int = 0
    like_eager: Equality | None = None
    digest: str = ""
    tied: bool = False
    device: str = ""
    eager: Timing | None = None
    compiled: Timing | None = None
    untimed: str = ""
    nothing_compiled: str = ""


@record(frozen=True)
class Scaling:
    """How one form of a target, ``eager`` or ``compiled``, scales.

    Milliseconds of a call in one process ``alone``, and of the ``slowest`` rank among all, each
    with a batch of that size; ``efficiency`` is the first over the second.
    """

    form: str
    alone: float
    slowest: float
    efficiency: float


@record(frozen=True)
class Distributed:
    """A run on several processes.

    ``diverged`` names the ranks whose weights or gradients differ from those of rank 0; ``note``
    says what went wrong in one process alone.
    """

    size: int
    backend: str
    parallel: str
    ranks: tuple[Rank, ...]
    scaling: tuple[Scaling, ...] = ()
    diverged: tuple[int, ...] = ()
    note: str = ""


@record(frozen=True)
class TargetReport:
    """Everything about one target. ``over_budget`` says which limits it exceeds.

    ``applied`` are the fixes of the arm "after", None where no fixes were asked for. ``eager``
    judges eager code by the ratio of after to before, in one mode each. ``unfinished`` names what
    was left out since time was up. ``diff`` is how the sources of the arms differ. ``exported``
    says why ``torch.export`` does not take the target, empty if it does, None where nobody asked.
    """

    target: str
    arms: tuple[Arm, ...]
    equality: Equality
    speedups: tuple[Speedup, ...] = ()
    joined: tuple[Joined, ...] = ()
    over_budget: tuple[str, ...] = ()
    allowed_breaks: int = 0
    diagnosis: Diagnosis | None = None
    distributed: Distributed | None = None
    applied: tuple[AppliedFix, ...] | None = None
    eager: tuple[Speedup, ...] = ()
    unfinished: tuple[str, ...] = ()
    diff: str = ""
    exported: str | None = None

    @property
    def after(self) -> Arm:
        """The arm that counts for the exit code."""
        return self.arms[-1]

    @property
    def speedup(self) -> float | None:
        """The ratio in the first mode."""
        return self.speedups[0].ratio if self.speedups else None

    @property
    def speed_note(self) -> str:
        """How to read the ratio in the first mode, or why there is none."""
        return self.speedups[0].note if self.speedups else "no speed"
