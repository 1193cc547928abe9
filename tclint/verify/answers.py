"""What a child answers, beside what results already have a record for."""

from __future__ import annotations

from tclint.records import record
from tclint.verify.events import Equality, Recompile, Sync
from tclint.verify.speed import CompilePhase, Kernels, Memory


@record(frozen=True)
class Done:
    """It is done, and there is nothing to tell."""


@record(frozen=True)
class Factories:
    """The names in a mapping of factories."""

    names: tuple[str, ...]


@record(frozen=True)
class Exported:
    """Why ``torch.export`` does not take the target; empty if it does."""

    problem: str


@record(frozen=True)
class Covered:
    """The rows by file that were executed."""

    rows: dict[str, tuple[int, ...]]


@record(frozen=True)
class Prepared:
    """The cold call was made; ``problem`` says why it failed, else there is a comparison.

    ``draws``: eager code draws random numbers, which compiled code draws in another order.
    """

    problem: str
    cold_start: float
    like_eager: Equality | None
    draws: bool = False


@record(frozen=True)
class Drawn:
    """The comparison with compiled code that draws its random numbers as eager code does."""

    like_eager: Equality


@record(frozen=True)
class Recompiled:
    """What warming up has compiled again so far."""

    recompiles: tuple[Recompile, ...]


@record(frozen=True)
class EagerSample:
    """Milliseconds per eager call."""

    eager: float


@record(frozen=True)
class Sample:
    """Milliseconds per call of each form."""

    eager: float
    compiled: float


@record(frozen=True)
class Finished:
    """What is measured once."""

    memory: Memory
    eager_memory: Memory
    syncs: tuple[Sync, ...] | None
    kernels: Kernels | None
    eager_kernels: Kernels | None
    recompiles: tuple[Recompile, ...]
    phases: tuple[CompilePhase, ...]
    cudagraph_skips: tuple[str, ...]


@record(frozen=True)
class Captured:
    """The scripts that were written."""

    scripts: tuple[str, ...]
