"""What the recorder wrote about one process of the command, as frozen records.

A process writes JSON lines to a file of its own, ``process-<pid>-<n>.jsonl``: one object a line,
whose ``kind`` names the record and whose other keys are its fields. A line is written as soon as
it is known, so that a process that is killed leaves all but its last moments. Of ``process``,
``steps``, ``memory`` and ``end``, of which a process has one, the last line holds: they are written
again with what is known by then. All times are nanoseconds of ``time.time_ns()``, which the
profiler's trace uses as well.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from tclint.records import record

_ERROR = re.compile(r"[A-Za-z_][\w.]*: ")
"""How an exception begins that ended a process."""


@record(frozen=True)
class Place:
    """A line of a file, in a function."""

    filename: str
    row: int
    function: str = "?"


@record(frozen=True)
class Process:
    """One Python process of the command, and what it runs on.

    ``rank`` and ``world_size`` are those of ``torch.distributed``'s environment. ``libraries`` are
    the folders whose code is not the user's: the standard library, site-packages.
    """

    pid: int
    parent: int
    started: int
    arguments: tuple[str, ...]
    folder: str
    executable: str
    python: str
    libraries: tuple[str, ...]
    torch: str | None = None
    cuda: str | None = None
    device: str | None = None
    rank: int | None = None
    local_rank: int | None = None
    world_size: int | None = None
    seed: int | None = None
    forked: bool = False


@record(frozen=True)
class BreakText:
    """Dynamo's own text about one graph break, with the user's stack in it."""

    at: int
    compile_id: str
    text: str


@record(frozen=True)
class Compiled:
    """One compilation of one frame, or the attempt; times in seconds, each with what it holds.

    ``compile_id`` is ``frame/version``: ``0/1`` is the second time that frame 0 was compiled.
    """

    at: int
    compile_id: str
    function: str
    filename: str
    row: int
    seconds: float
    backward: bool = False
    dynamo_seconds: float = 0.0
    aot_seconds: float = 0.0
    inductor_seconds: float = 0.0
    code_seconds: float = 0.0
    graph_ops: int = 0
    guards: int = 0
    recompile_reason: str = ""
    fail_type: str = ""
    fail_reason: str = ""
    cache: str = ""
    """``hit``, ``miss`` or ``bypass`` of Inductor's cache of graphs; empty where not asked."""
    has_code: bool = True
    """False where nothing was compiled: no tensor operation, or a failure."""


@record(frozen=True)
class CudagraphSkip:
    """Why Inductor leaves a CUDA graph out."""

    at: int
    reason: str


@record(frozen=True)
class Steps:
    """The steps of one loop: where one ends, and when each ended.

    Step ``i`` is what lies between the ends ``i - 1`` and ``i``; step 0 began with the process.
    Where ``backward`` tells them apart, a step ends where ``backward`` begins.
    So it is with ``call``: nothing trains, and a module or compiled function is called.
    ``marker`` is what tells the steps apart: ``optimizer.step``, ``backward``, ``call``, or the
    place that ``--step-marker`` names. The first ``warm_up`` of them are not counted; those from
    ``watched`` (first, last) were slowed by a window.
    """

    marker: str
    place: Place
    ends: tuple[int, ...]
    warm_up: int
    watched: tuple[tuple[int, int], ...] = ()


@record(frozen=True)
class Loss:
    """The number on which ``backward`` was called in a step, as ``float.hex()``."""

    step: int
    value: str
    place: Place


@record(frozen=True)
class Samples:
    """Where the main thread was, looked up every ``interval`` nanoseconds in some steps.

    ``stacks`` are outermost first; ``hits`` are (time, number of a stack). ``pinning`` are the
    nanoseconds of CPU that threads took meanwhile which pin a loader's batches.
    """

    interval: int
    first: int
    last: int
    stacks: tuple[tuple[Place, ...], ...]
    hits: tuple[tuple[int, int], ...]
    pinning: int = 0


@record(frozen=True)
class Watch:
    """Where the main thread was now and then in all steps, from the first to the last.

    ``stacks`` are numbers of ``places``, outermost first; ``hits`` are (time, number of a stack).
    """

    interval: int
    places: tuple[Place, ...]
    stacks: tuple[tuple[int, ...], ...]
    hits: tuple[tuple[int, int], ...]

    def stack(self, number: int) -> tuple[Place, ...]:
        """One of the stacks."""
        return tuple(self.places[at] for at in self.stacks[number])


@record(frozen=True)
class Syncs:
    """Operations that made the CPU wait for the GPU, in order: (step, number of a stack).

    ``backward`` are the numbers of those stacks that are of the forward of what waited.
    """

    first: int
    last: int
    stacks: tuple[tuple[Place, ...], ...]
    events: tuple[tuple[int, int], ...]
    backward: tuple[int, ...] = ()


@record(frozen=True)
class Profile:
    """A trace of ``torch.profiler`` over some steps: a file beside this one, Chrome's format."""

    first: int
    last: int
    file: str


@record(frozen=True)
class Gradients:
    """A trace over some steps, with the lines whose operations have gradients.

    ``numbers`` are (what autograd numbers an operation with, number of a stack).
    """

    first: int
    last: int
    file: str
    stacks: tuple[tuple[Place, ...], ...]
    numbers: tuple[tuple[int, int], ...]


@record(frozen=True)
class Memory:
    """The most memory that the process held on its GPU, in bytes."""

    peak: int


@record(frozen=True)
class Model:
    """A model that the program calls, or a module that gives its loss.

    ``compiled`` is how many modules of it were compiled for a trial, ``blocks`` how many repeated
    ones it has.
    """

    name: str
    place: Place
    compiled: int
    loss: bool = False
    blocks: int = 0


@record(frozen=True)
class Cell:
    """A cell of a notebook: the name that Python has for it, the one that people see, its text.

    ``ran`` is False where it ran before the recording began.
    """

    filename: str
    name: str
    text: str
    ran: bool = True


@record(frozen=True)
class Note:
    """What the recorder could not do, and why; the command went on."""

    what: str
    reason: str


@record(frozen=True)
class End:
    """The process came to its own end: ``exit``, or the exception that ended it."""

    at: int
    how: str

    @property
    def error(self) -> str:
        """The exception in one line; empty where none ended the process."""
        if not _ERROR.match(self.how):
            return ""
        lines = filter(None, map(str.strip, self.how.splitlines()))
        return " ".join(itertools.islice(lines, 2 if _headed(self.how) else 1))


def _headed(how: str) -> bool:
    """Whether the first line of an exception only says that the next one tells more."""
    return how.partition("\n")[0].rstrip().endswith(":")


KINDS: dict[str, type] = {
    "process": Process,
    "break": BreakText,
    "compiled": Compiled,
    "cudagraph-skip": CudagraphSkip,
    "steps": Steps,
    "loss": Loss,
    "samples": Samples,
    "watch": Watch,
    "syncs": Syncs,
    "profile": Profile,
    "gradients": Gradients,
    "memory": Memory,
    "model": Model,
    "cell": Cell,
    "note": Note,
    "end": End,
}


@record(frozen=True)
class Recorded:
    """All that one process wrote; ``end`` is None where it was killed."""

    file: Path
    process: Process
    breaks: tuple[BreakText, ...] = ()
    compiled: tuple[Compiled, ...] = ()
    skips: tuple[CudagraphSkip, ...] = ()
    steps: Steps | None = None
    losses: tuple[Loss, ...] = ()
    samples: tuple[Samples, ...] = ()
    watch: Watch | None = None
    syncs: tuple[Syncs, ...] = ()
    profiles: tuple[Profile, ...] = ()
    gradients: Gradients | None = None
    memory: Memory | None = None
    models: tuple[Model, ...] = ()
    cells: tuple[Cell, ...] = ()
    notes: tuple[Note, ...] = ()
    end: End | None = None

    def text_of(self, filename: str) -> str | None:
        """The text of a cell; None of what is a file."""
        return next((cell.text for cell in self.cells if cell.filename == filename), None)
