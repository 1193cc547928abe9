"""Where the thread of the loop is, looked up every millisecond."""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable
from time import sleep, time_ns

from .recording import Recording
from .stacks import Stacks

_INTERVAL = 1_000_000
_MOST = 20_000
_SWITCH = 1e-4
"""Seconds after which the loop's thread is asked to let the other one look."""


class Samples:
    """Looks from a thread of its own, which ``threading`` does not know."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._looking = False

    def open(self, step: Callable[[], int]) -> bool:
        """Begin to look."""
        self._looking = True
        # Else a look waits until the loop calls into torch: Python's own time would be torch's.
        self._switch = sys.getswitchinterval()
        sys.setswitchinterval(min(_SWITCH, self._switch))
        self._asked = sys.getswitchinterval()
        self._stacks = Stacks()
        self._hits: list[tuple[int, int]] = []
        self._interval = _INTERVAL
        self._done = allocate_lock()
        self._done.acquire()
        look = self._recording.lines.guarded("samples", self._look)
        start_new_thread(look, (get_ident(), self._done))
        return True

    def drop(self) -> None:
        """Look no more."""
        self._looking = False
        if sys.getswitchinterval() == self._asked:
            sys.setswitchinterval(self._switch)

    def close(self, first: int, last: int) -> None:
        """Look no more, and write what was seen."""
        self.drop()
        if self._done.acquire(timeout=1):
            self._recording.lines.write(
                "samples",
                interval=self._interval,
                first=first,
                last=last,
                stacks=self._stacks.places(),
                hits=self._hits,
            )

    def _look(self, thread: int, done: object) -> None:
        while self._looking and done is self._done:
            self._hits.append((time_ns(), self._stacks.number_in(thread)))
            if len(self._hits) >= _MOST:
                del self._hits[::2]
                self._interval *= 2
            sleep(self._interval / 1e9)
        self._done.release()
