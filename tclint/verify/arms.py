"""The arms of a comparison: what to run, and how."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from tclint.children import worker_command
from tclint.records import record
from tclint.verify.process import WORKER, Child
from tclint.verify.results import AppliedFix

REGIONAL = "regional"
"""The mode that compiles each repeated block by itself."""

MODES = (
    "default",
    "reduce-overhead",
    "max-autotune",
    "max-autotune-no-cudagraphs",
    "lite",
    REGIONAL,
)
"""The modes of torch.compile that can be timed."""

_START_SECONDS = 1.0

Tell = Callable[[str], None]
"""Is told what is being done, for someone who waits."""


def silent(doing: str) -> None:
    """Tell nobody."""


@record(frozen=True)
class Options:
    """How to run the arms.

    ``memory_limit`` is in bytes; 0 sets none. ``inputs`` are configured ones, ``vary`` says what
    other ones are like. ``repro`` is a folder to leave scripts in. ``time_limit`` holds for each
    child; with a ``deadline``, a reading of the monotonic clock, for all of them until then. Of
    what takes long only ``fewest_rounds`` of the ``rounds`` are timed. ``python`` is another
    interpreter to run the target with, which needs no tclint of its own. ``export``: also try
    ``torch.export``.
    """

    backend: str = "inductor"
    modes: tuple[str, ...] = ("default",)
    phase: str = "forward"
    inputs: tuple[str, ...] = ()
    vary: tuple[str, ...] = ()
    device: str | None = None
    time_limit: float = 600.0
    memory_limit: int = 0
    speed: bool = True
    rounds: int = 15
    fewest_rounds: int = 5
    repro: Path | None = None
    deadline: float | None = None
    python: str = ""
    export: bool = False

    @property
    def seconds_left(self) -> float:
        """The time that a child started now has."""
        if self.deadline is None:
            return self.time_limit
        return max(self.deadline - time.monotonic(), 0.0)

    @property
    def out_of_time(self) -> bool:
        """Whether another child is not worth starting: it would not even import torch."""
        return self.deadline is not None and self.seconds_left < _START_SECONDS

    def start(self, cache: Path, more: Mapping[str, str] | None = None) -> Child:
        """A child that runs like this; ``cache`` is a folder for its compiled code."""
        stated = self.time_limit if self.deadline is not None else None
        other = worker_command(WORKER, self.python) if self.python else ()
        return Child(cache, self.device, self.seconds_left, more, stated, other)


@record(frozen=True)
class Fixing:
    """What fixes make of some files: the ``texts`` that change, and the fixes."""

    texts: Mapping[str, str]
    applied: tuple[AppliedFix, ...]


@record(frozen=True)
class Side:
    """One arm to run: ``target`` as written for its own ``root``.

    ``overlay`` holds texts to import in the place of files. ``fix`` makes them from the files that
    the arm before this one turned out to load. ``settings`` of Dynamo are on in it, by name.
    """

    name: str
    target: str
    root: Path
    overlay: Mapping[str, str] = field(default_factory=dict)
    fix: Callable[[Sequence[Path]], Fixing] | None = None
    settings: tuple[str, ...] = ()


def request_for(side: Side, options: Options, desk: Path) -> dict[str, Any]:
    """The part that all requests to a child have in common."""
    return {
        "target": side.target,
        "root": str(side.root),
        "overlay": dict(side.overlay),
        "settings": list(side.settings),
        "device": options.device,
        "phase": options.phase,
        "inputs": list(options.inputs),
        "vary": list(options.vary),
        "memory_limit": options.memory_limit,
        "desk": str(desk),
    }


def new_cache(desk: Path, side: Side, use: str) -> Path:
    """An empty folder for one child's compiled code."""
    cache = cache_folder(desk, side, use)
    # User code knows where the folder of its own cache lies, and may have been here before.
    cache.mkdir(parents=True, exist_ok=True)
    return cache


def cache_folder(desk: Path, side: Side, use: str) -> Path:
    """Where one child's compiled code is, or will be."""
    return desk / f"cache-{side.name}-{use}"
