"""Times the steps of a process before and after a window, by a clock of its own.

The same in every arm: a hook on optimizers that reads clocks. Where the recorder is part of an arm,
its ``sitecustomize`` comes first and imports this one; this one imports that of the script. Until
it holds the lock a process waits, so that only one of them makes steps at any time.
"""

from __future__ import annotations

import fcntl
import gc
import json
import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

SETTLED, BETWEEN, AFTER = 15, 40, 6
"""Steps that are left out: after the lock, while there may be a window, and after that."""
_BEGINS, _PROFILED = 25, 4
"""The recorder's profiler begins so many steps after its first window, and sees so many."""
_DETACH = "TEARDOWN_CUPTI"
_TASKS = Path("/proc/self/task")


class Clocks:
    """What each step took, by the wall's clock and the process's."""

    def __init__(self, torch: Any, told: Mapping[str, str]) -> None:
        self._torch, self._told = torch, told
        self._arm = told["WINDOW_ARM"]
        self._gate, early, late = map(int, told["WINDOW_STEPS"].split(","))
        self._look = self._gate + SETTLED + early + 1
        self._early = range(self._look - 1 - early, self._look - 1)
        self._late = range(self._look + BETWEEN + AFTER, self._look + BETWEEN + AFTER + late)
        self._count = 0
        self._marker: Any = None
        self._last = (0, 0)
        self._steps: dict[str, list[tuple[int, int]]] = {"early": [], "late": []}
        self._collected: list[tuple[int, int]] = []
        self._began = 0
        self._profiler: Any = None
        self._found: dict[str, Any] = {}
        gc.callbacks.append(self._collecting)
        optimizers = sys.modules["torch.optim.optimizer"]
        self._hook = optimizers.register_optimizer_step_post_hook(self._stepped)
        os.register_at_fork(after_in_child=self._hook.remove)

    def _collecting(self, phase: str, about: dict[str, int]) -> None:
        now = time.perf_counter_ns()
        if phase == "start":
            self._began = now
        else:
            self._collected.append((self._count, now - self._began))

    def _stepped(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        now = time.perf_counter_ns(), time.process_time_ns()
        if self._marker is None:
            self._marker = id(optimizer)
        if id(optimizer) == self._marker:
            self._over(now)
            self._last = time.perf_counter_ns(), time.process_time_ns()

    def _over(self, now: tuple[int, int]) -> None:
        self._count += 1
        count = self._count
        taken = now[0] - self._last[0], now[1] - self._last[1]
        if count in self._early:
            self._steps["early"].append(taken)
        elif count in self._late:
            self._steps["late"].append(taken)
        elif count == self._gate:
            self._wait()
        elif count == self._look - 1:
            self._found["before"] = self._probed()
        elif count == self._look + BETWEEN:
            self._found["after"] = self._probed()
        elif count == self._late.stop:
            self._write()
        else:
            self._between(count - self._look)

    def _between(self, step: int) -> None:
        """What this arm does in place of the recorder's windows."""
        if self._arm in {"plain", "hasty", "attached", "host"}:
            if step == _BEGINS:
                self._profile()
            elif step == _BEGINS + _PROFILED:
                self._profiler.stop()
                if self._arm == "hasty":
                    os.unsetenv(_DETACH)
                self._profiler.export_chrome_trace(self._told["WINDOW_OUT"] + ".trace")
                self._profiler = None

    def _profile(self) -> None:
        kinds = self._torch.profiler.ProfilerActivity
        activities = [kinds.CPU]
        if self._arm != "host" and self._torch.cuda.is_initialized():
            activities.append(kinds.CUDA)
        os.putenv("KINETO_LOG_LEVEL", "99")
        if self._arm in {"plain", "hasty"}:
            os.putenv(_DETACH, "1")
        self._profiler = self._torch.profiler.profile(activities=activities, acc_events=True)
        self._profiler.start()

    def _wait(self) -> None:
        Path(self._told["WINDOW_OUT"] + ".ready").touch()
        # Held as long as the process runs.
        self._lock = os.open(self._told["WINDOW_LOCK"], os.O_WRONLY | os.O_CREAT)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        cores = _cores(self._told, "WINDOW_CORES")
        for thread in _TASKS.iterdir() if cores else ():
            os.sched_setaffinity(int(thread.name), cores)

    def _probed(self) -> dict[str, Any]:
        """Small things that a step is made of, many times: nanoseconds for each, chunk by chunk."""
        torch = self._torch
        here = torch.zeros(1)
        found = {"host": _each(lambda: here.add_(1), 50, 60), "python": _each(_nothing, 2000, 40)}
        if torch.cuda.is_initialized():
            there = torch.zeros(1, device="cuda")
            found["launch"] = _each(lambda: there.add_(1), 20, 80, torch.cuda.synchronize)
            found["wait"] = _each(there.item, 5, 40)
        return {**found, "threads": len([*_TASKS.iterdir()])}

    def _write(self) -> None:
        self._hook.remove()
        first = {"early": self._early.start, "late": self._late.start}
        found = self._found | {"steps": self._steps, "first": first, "collected": self._collected}
        path = Path(self._told["WINDOW_OUT"])
        path.with_suffix(".part").write_text(json.dumps(found))
        path.with_suffix(".part").replace(path)
        os._exit(0)


def _cores(told: Mapping[str, str], name: str) -> list[int]:
    return [int(core) for core in told.get(name, "").split(",") if core]


def _nothing() -> None:
    pass


def _each(call: Any, times: int, chunks: int, after: Any = _nothing) -> list[int]:
    found = []
    for _ in range(chunks):
        begun = time.perf_counter_ns()
        for _ in range(times):
            call()
        found.append((time.perf_counter_ns() - begun) // times)
        after()
    return found


def begin(told: Mapping[str, str]) -> None:
    """Load torch, and time the steps of this process from now on."""
    cores = _cores(told, "WINDOW_OTHERS")
    if cores:
        os.sched_setaffinity(0, cores)
    Clocks(import_module("torch"), told)


# Not in what the process starts itself.
_told = dict(os.environ)
if os.environ.pop("WINDOW_ARM", ""):
    begin(_told)
_FOLDER = str(Path(__file__).parent)
sys.path[:] = [entry for entry in sys.path if entry != _FOLDER]
sys.modules.pop("sitecustomize", None)
# Where there is none, its absence is told to `site` in the way that it expects.
import_module("sitecustomize")
