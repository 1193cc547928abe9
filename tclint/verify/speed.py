"""What the timed runs measured, as plain frozen data."""

from __future__ import annotations

from tclint.records import record
from tclint.verify.events import Equality, Recompile, Sync


@record(frozen=True)
class Timing:
    """Milliseconds per call: the median, the quartiles, how many samples, and the samples."""

    median: float
    lower: float
    upper: float
    samples: int
    values: tuple[float, ...] = ()

    @property
    def spread(self) -> float:
        """The interquartile range."""
        return self.upper - self.lower


@record(frozen=True)
class Memory:
    """Peak bytes. CUDA graphs hide in ``reserved``; on a CPU only ``resident`` is known."""

    allocated: int | None = None
    reserved: int | None = None
    resident: int | None = None


@record(frozen=True)
class Kernels:
    """Kernels that one call runs on the GPU, and how often the CPU launches one or a CUDA graph."""

    run: int
    launches: int


@record(frozen=True)
class CompilePhase:
    """Seconds of the cold start that one layer of the compiler took, the layers below left out."""

    name: str
    seconds: float


@record(frozen=True)
class Speed:
    """What the timed run of one arm in one mode measured.

    ``cold_start`` is the first call, in seconds; ``again`` and ``eager_again`` are times of the
    compiled form and of eager code in a second process, where one was asked.
    """

    cold_start: float
    eager: Timing
    compiled: Timing
    memory: Memory
    syncs: tuple[Sync, ...] | None
    recompiles: tuple[Recompile, ...]
    like_eager: Equality
    mode: str = "default"
    eager_memory: Memory = Memory()
    again: Timing | None = None
    eager_again: Timing | None = None
    kernels: Kernels | None = None
    eager_kernels: Kernels | None = None
    phases: tuple[CompilePhase, ...] = ()
    cudagraph_skips: tuple[str, ...] = ()


@record(frozen=True)
class Speedup:
    """The verdict on one mode: ``ratio`` is None where no difference was measured.

    ``low`` and ``high`` bound the ratio with 95% confidence.
    """

    mode: str
    ratio: float | None
    note: str
    low: float | None = None
    high: float | None = None
