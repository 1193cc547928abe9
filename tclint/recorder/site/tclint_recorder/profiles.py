"""A trace by torch's profiler, without stacks."""

from __future__ import annotations

import os
from _thread import get_ident
from collections.abc import Callable
from time import sleep
from typing import Any

from .recording import Recording

_LEVEL = "KINETO_LOG_LEVEL"
_DETACH = "TEARDOWN_CUPTI"
_SAFE = (12, 6)
"""The CUDA from which on NVIDIA's tracer can be detached where there are CUDA graphs."""
_TASKS = "/proc/self/task"
_PATIENCE = 300
"""Milliseconds until the tracer is taken to be detached."""


class Profiles:
    """Profiles some steps; a profiler of the program's comes first at any time."""

    def __init__(self, torch: Any, recording: Recording) -> None:
        self._torch = torch
        self._recording = recording
        self._profiler: Any = None
        self._detaches = False
        self._thread = get_ident()

    def open(self, step: Callable[[], int]) -> bool:
        """Begin to profile; it takes a moment, which belongs to the first step."""
        torch = self._torch
        if torch._C._autograd._profiler_enabled():
            self._recording.lines.note("profile", "the program runs a profiler itself")
            return False
        if get_ident() != self._thread:
            # Kineto begins in the thread that imports torch, and says on stderr where it does not.
            self._recording.lines.note("profile", "the loop runs in another thread")
            return False
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_initialized():
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        # Kineto would say on stderr that it begins; it asks the environment of C, not Python's.
        os.putenv(_LEVEL, "99")
        if detaches(torch):
            # Else the tracer stays, and each launch is slower until the program ends.
            os.putenv(_DETACH, "1")
            self._detaches = torch.cuda.is_initialized()
        self._profiler = torch.profiler.profile(
            activities=activities, acc_events=True, record_shapes=True
        )
        self._profiler.start()
        self._give_way()
        return True

    def drop(self) -> None:
        """Profile no more."""
        profiler, self._profiler = self._profiler, None
        if profiler is not None:
            self._restore()
            threads = _threads()
            try:
                profiler.stop()
                if self._detaches:
                    self._wait_for_detached(threads)
            finally:
                _put_back(_LEVEL)
                _put_back(_DETACH)

    def close(self, first: int, last: int) -> None:
        """Profile no more, and write the trace."""
        trace = self.taken()
        if trace is not None:
            self._recording.lines.write(
                "profile", first=min(first + 1, last), last=last, file=trace
            )

    def taken(self) -> str | None:
        """Profile no more; the name of the trace's file, or None where another profiler came."""
        profiler = self._profiler
        self.drop()
        if profiler is None:
            return None
        path = self._recording.lines.beside("profile", ".json")
        profiler.export_chrome_trace(path)
        return os.path.basename(path)

    def _wait_for_detached(self, others: set[str]) -> None:
        """Wait for the thread by which Kineto detaches the tracer, which a call to CUDA lets end.

        It asks for the variable once more at its end, and attaches the tracer again without it.
        """
        for _ in range(_PATIENCE):
            self._torch.cuda.is_current_stream_capturing()
            if _threads() <= others:
                return
            sleep(0.001)

    def _give_way(self) -> None:
        kind = self._torch.autograd.profiler.profile
        prepare = kind._prepare_trace
        drop = self._recording.lines.guarded("profile", self.drop)

        def prepared(other: Any) -> Any:
            if self._profiler is not None:
                self._recording.lines.note("profile", "the program began a profiler itself")
                drop()
            return prepare(other)

        def restore() -> None:
            kind._prepare_trace = prepare

        kind._prepare_trace = prepared
        self._restore = restore


def detaches(torch: Any) -> bool:
    """Whether the tracer can be detached; what the program or torch itself says of it holds."""
    version = (torch.version.cuda or "").split(".")[:2]
    known = len(version) == 2 and all(part.isdecimal() for part in version)
    return known and tuple(map(int, version)) >= _SAFE and _DETACH not in os.environ


def _threads() -> set[str]:
    """The threads of this process; none where that is not told."""
    return set(os.listdir(_TASKS)) if os.path.isdir(_TASKS) else set()


def _put_back(name: str) -> None:
    if name in os.environ:
        os.putenv(name, os.environ[name])
    else:
        os.unsetenv(name)
