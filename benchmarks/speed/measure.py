"""One command's costs, its children's included."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MEGABYTE = 2**20
UNIT = 1 if sys.platform == "darwin" else 1024
"""Of the peak memory that the system reports, in bytes."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of wall-clock and processor time, and megabytes at the peak of one process."""

    wall: float
    cpu: float
    memory: float


def run(command: Sequence[str], environment: Mapping[str, str] | None = None) -> Costs:
    """Run a linter.

    Raises:
        RuntimeError: it could not do its work: it ended with neither 0 nor 1, or was killed.
    """
    start = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**_environment(), **(environment or {})},
    )
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)}: ended with {process.returncode}")
    memory = usage.ru_maxrss * UNIT / MEGABYTE
    return Costs(wall, usage.ru_utime + usage.ru_stime, memory)


def _environment() -> dict[str, str]:
    """The environment in which programs may keep their byte code, as installed ones have it."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def best(rounds: Sequence[Costs]) -> Costs:
    """The least of each: what else the machine does can only add."""
    return Costs(
        min(costs.wall for costs in rounds),
        min(costs.cpu for costs in rounds),
        max(costs.memory for costs in rounds),
    )
