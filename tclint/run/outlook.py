"""What a step could be: what its kernels are, the least that it can take, what compiling brings.

Times are milliseconds of one step, the mean of those that count, unless a field says otherwise.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from tclint.files import read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.run.intervals import Interval
from tclint.verify.wire import WireError, plain, rebuild

TRIED = "compiled.json"
"""The file of a recording's folder that tells what compiling brings."""
_LARGEST = 1 << 16
_SAME = 0.1
"""The share of a step up to which a difference is none, if it may as well be the other way."""


@record(frozen=True)
class KernelClass:
    """The kernels of one class: their time on the GPU, and how often they are launched.

    ``saves`` is the most that its ``remedy`` can bring, 0 where none is known; ``change`` is what
    the remedy may alter: ``same bits``, ``rounding``, ``precision`` or ``behaviour``. ``on_gpu`` is
    what the GPU itself would be faster by, where the host then may keep it waiting.
    """

    name: str
    ms: float
    launches: float
    saves: float = 0.0
    remedy: str = ""
    change: str = ""
    on_gpu: float = 0.0


@record(frozen=True)
class KernelClasses:
    """All kernels of a step, the dearest class first, and the time in which the GPU does nothing.

    ``idle_saves`` is the most that ``idle_remedy`` can bring of it.
    """

    classes: tuple[KernelClass, ...]
    idle: float
    launches: float
    idle_saves: float = 0.0
    idle_remedy: str = ""


@record(frozen=True)
class Move:
    """What would make a part of a step shorter by so many milliseconds at most."""

    name: str
    saves: float
    remedy: str
    change: str


@record(frozen=True)
class Ceiling:
    """The least that a step can take on this device, and which of its parts sets that.

    ``bound_by`` is ``arithmetic``, ``memory``, ``launches`` or ``loading``.
    """

    ms: float
    bound_by: str
    words: str = ""


@record(frozen=True)
class Tried:
    """The model that is called at a place, eager against compiled.

    ``what`` was compiled; ``cold_start`` is in seconds; ``pays_after`` so many steps, None: never.
    ``change`` is what happened to the losses, empty where they cannot be compared. Where ``failed``
    says why it did not work, the numbers mean nothing. ``others`` are other ways to compile that
    did not work: what was compiled, and why.
    """

    what: str
    place: tuple[str, int]
    eager: Interval
    compiled: Interval
    breaks: int
    recompiles: int
    cold_start: float
    pays_after: int | None
    change: str
    failed: str = ""
    others: tuple[tuple[str, str], ...] = ()

    @property
    def differs(self) -> bool | None:
        """Whether a step is another when compiled; None where its runs differ too much to tell."""
        if self.compiled.high < self.eager.low or self.eager.high < self.compiled.low:
            return True
        shorter, longer = self.compiled.low / self.eager.high, self.compiled.high / self.eager.low
        return None if max(1 - shorter, longer - 1) > _SAME else False


def read_tried(folder: Path) -> Tried | None:
    """What a recording's folder tells of compiling; None where nobody tried, or it is damaged."""
    try:
        found = rebuild(Tried, parse_json(read_text(folder / TRIED, _LARGEST)))
    except (OSError, ValueError, WireError):
        return None
    sides = (found.eager, found.compiled)
    numbers = [one for side in sides for one in (side.value, side.low, side.high)]
    finite = all(map(math.isfinite, (*numbers, found.cold_start)))
    return found if finite and (found.failed or min(numbers) > 0) else None


def write_tried(folder: Path, found: Tried) -> None:
    """Leave in a recording's folder what compiling brings."""
    (folder / TRIED).write_text(json.dumps(plain(found)), encoding="utf-8")
