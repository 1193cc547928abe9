"""The arms of a comparison: what to run, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from tclint.records import record

REGIONAL = "regional"
"""The mode that compiles each repeated block by itself."""


Tell = Callable[[str], None]
"""Is told what is being done, for someone who waits."""


def silent(doing: str) -> None:
    """Tell nobody."""


@record(frozen=True)
class Options:
    """How to run the arms.

    ``memory_limit`` is in bytes; 0 sets none. ``inputs`` are configured ones. ``repro`` and
    ``trace`` are folders to leave scripts and traces in.
    """

    backend: str = "inductor"
    modes: tuple[str, ...] = ("default",)
    phase: str = "forward"
    inputs: tuple[str, ...] = ()
    device: str | None = None
    time_limit: float = 600.0
    memory_limit: int = 0
    speed: bool = True
    rounds: int = 15
    repro: Path | None = None
    trace: Path | None = None


@record(frozen=True)
class Side:
    """One arm to run: ``target`` as written for its own ``root``.

    ``overlay`` holds texts to import in the place of files. ``fix`` makes them from the files that
    the arm before this one turned out to load.
    """

    name: str
    target: str
    root: Path
    overlay: Mapping[str, str] = field(default_factory=dict)
    fix: Callable[[Sequence[Path]], Mapping[str, str]] | None = None


def request_for(side: Side, options: Options, desk: Path) -> dict[str, Any]:
    """The part that all requests to a child have in common."""
    return {
        "target": side.target,
        "root": str(side.root),
        "overlay": dict(side.overlay),
        "device": options.device,
        "phase": options.phase,
        "inputs": list(options.inputs),
        "memory_limit": options.memory_limit,
        "desk": str(desk),
    }


def new_cache(desk: Path, side: Side, use: str) -> Path:
    """An empty folder for one child's compiled code."""
    cache = cache_folder(desk, side, use)
    cache.mkdir()
    return cache


def cache_folder(desk: Path, side: Side, use: str) -> Path:
    """Where one child's compiled code is, or will be."""
    return desk / f"cache-{side.name}-{use}"
