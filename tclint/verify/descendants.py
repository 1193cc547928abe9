"""End all that a process has started, wherever it has hidden itself (Linux only)."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_PATIENCE_SECONDS = 30.0
_PAUSE_SECONDS = 0.01
_GONE = "ZX"
# What is about to end, or belongs to somebody else, cannot be helped.
_OUT_OF_REACH = (ProcessLookupError, PermissionError)


def end_descendants(root: int, patience: float = _PATIENCE_SECONDS) -> bool:
    """Kill every process below ``root``; False if some may still live when patience ends.

    Those that lose their parent are found only where ``root`` adopts them. All are stopped before
    the first is killed: where processes start others as fast as they die, killing has no end.
    """
    deadline = time.monotonic() + patience
    while True:
        herd = _Herd(root)
        while herd.grew() and time.monotonic() < deadline:
            pass
        herd.kill()
        if not herd.stopped:
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(_PAUSE_SECONDS)


class _Herd:
    """What lives below a process, as far as it has been found and stopped."""

    def __init__(self, root: int) -> None:
        self.stopped: set[int] = set()
        self._root = root
        self._settled: set[int] = set()
        self._groups = {0, _group(root), os.getpgrp()}

    def grew(self) -> bool:
        """Look for more, and stop it; False once there is no more."""
        before = len(self.stopped)
        # One that had been stopped when its children were read has no others.
        open_ends = [self._root, *(self.stopped - self._settled)]
        self._settled |= self.stopped
        while open_ends:
            found = [one for one in _children(open_ends.pop()) if one not in self.stopped]
            for process in found:
                self._stop(process)
            open_ends += [one for one in found if one in self.stopped]
        return len(self.stopped) > before

    def kill(self) -> None:
        """Kill all that was found."""
        for process in self.stopped:
            _send(process, signal.SIGKILL)

    def _stop(self, process: int) -> None:
        if (group := _group(process)) not in self._groups:
            # A process group goes at once, however fast it grows.
            self._groups.add(group)
            with suppress(*_OUT_OF_REACH):
                os.killpg(group, signal.SIGSTOP)
        _send(process, signal.SIGSTOP)
        if _lives(process):
            self.stopped.add(process)


def _send(process: int, what: signal.Signals) -> None:
    with suppress(*_OUT_OF_REACH):
        os.kill(process, what)


def _group(process: int) -> int:
    """The process group; 0 where the process is gone."""
    try:
        return os.getpgid(process)
    except _OUT_OF_REACH:
        return 0


def _children(process: int) -> list[int]:
    threads = Path(f"/proc/{process}/task")
    try:
        told = [(thread / "children").read_text() for thread in threads.iterdir()]
    except OSError:
        if not threads.exists():
            return []
        # A kernel without that list.
        return [one for one in _all_processes() if _stat(one)[1:2] == [str(process)]]
    return [int(number) for text in told for number in text.split()]


def _all_processes() -> list[int]:
    try:
        return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    except OSError:
        return []


def _lives(process: int) -> bool:
    state = _stat(process)[:1]
    return bool(state) and state[0] not in _GONE


def _stat(process: int) -> list[str]:
    """State, parent and so on; empty where the process is gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return []
    # A program chooses its name, brackets and all.
    return text.rpartition(")")[2].split()
