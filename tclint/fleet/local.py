"""The executor for one machine: a process for each unit, with the limits of verify."""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Final

from tclint.children import worker_command
from tclint.fleet.units import KILLED, LOST, Measured, Unit, failed
from tclint.scratch import scratch
from tclint.verify.process import Child, ChildError, was_killed
from tclint.verify.wire import plain

_WORKER: Final = worker_command("tclint.fleet.worker")
_GRACE_SECONDS: Final = 120.0
"""What a worker may take beyond the limit of its target, to check and to fix its files."""
_GLANCE_SECONDS: Final = 0.5
_END_SECONDS: Final = 5.0


class LocalCrew:
    """Up to ``jobs`` units at a time; each on a GPU has one for itself.

    What is timed on a CPU runs while nothing else does.
    """

    def __init__(
        self, jobs: int, gpus: Sequence[str] = (), worker: tuple[str, ...] = _WORKER
    ) -> None:
        """Use so many processes, and GPUs by the names that CUDA_VISIBLE_DEVICES knows.

        ``worker`` is the command that measures a unit.
        """
        self._jobs, self._free, self._worker = jobs, list(gpus), worker
        self._alone = False
        self._running: dict[tuple[str, str], Child | None] = {}
        self._threads: dict[tuple[str, str], threading.Thread] = {}
        self._done: queue.SimpleQueue[tuple[Unit, Measured, str]] = queue.SimpleQueue()
        self._ending = False

    def __enter__(self) -> LocalCrew:
        """Use as a context manager: nothing that was started outlives the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what still runs."""
        self._ending = True
        for child in list(self._running.values()):
            if child is not None:
                child.kill()
        for thread in self._threads.values():
            thread.join(_END_SECONDS)  # it removes its folder

    def has_room(self, unit: Unit) -> bool:
        """Whether a process, and a GPU where one is needed, is free."""
        if self._alone or len(self._running) >= self._jobs:
            return False
        if unit.needs == "gpu":
            return bool(self._free)
        return unit.needs == "cpu" or not self._running

    def start(self, unit: Unit) -> None:
        """Start the unit's process."""
        gpu = self._free.pop(0) if unit.needs == "gpu" else ""
        self._alone = unit.needs == "alone"
        self._running[unit.target, unit.arm] = None
        thread = threading.Thread(target=self._work, args=(unit, gpu), daemon=True)
        self._threads[unit.target, unit.arm] = thread
        thread.start()

    def wait(self) -> Sequence[tuple[Unit, Measured]]:
        """What is done since the last call, at least one."""
        while True:
            try:
                # In glances: nothing else lets the main thread take a signal on every system.
                unit, measured, gpu = self._done.get(timeout=_GLANCE_SECONDS)
            except queue.Empty:
                continue
            del self._running[unit.target, unit.arm], self._threads[unit.target, unit.arm]
            self._alone = False
            if gpu:
                self._free.append(gpu)
            return ((unit, measured),)

    def _work(self, unit: Unit, gpu: str) -> None:
        more = {"CUDA_VISIBLE_DEVICES": gpu} if gpu else {}
        device = None if gpu else "cpu"
        measured = None
        try:
            with scratch("unit") as folder:
                measured = self._measure(unit, folder, device, more)
        except OSError as error:  # or its folder cannot be removed
            measured = measured or failed(LOST, f"cannot start a process: {error}")
        self._done.put((unit, measured, gpu))

    def _measure(
        self, unit: Unit, desk: Path, device: str | None, more: dict[str, str]
    ) -> Measured:
        limit = unit.measures.time_limit + _GRACE_SECONDS
        with Child(desk, device, limit, more, worker=self._worker) as child:
            self._running[unit.target, unit.arm] = child
            if self._ending:
                return failed(KILLED, "the run was ended")
            try:
                return child.ask("measure", Measured, unit=plain(unit))
            except ChildError as error:
                failure = error.failure
        kind = KILLED if was_killed(failure) else failure.kind
        return failed(kind, f"tclint's own process {failure.message}")
