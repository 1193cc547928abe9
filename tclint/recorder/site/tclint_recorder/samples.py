"""Where the thread of the loop is: looked up often in some steps, and now and then in all."""

from __future__ import annotations

import sys
from _thread import allocate_lock, get_ident, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from time import time_ns

from .recording import Recording
from .stacks import Stacks

_INTERVAL = 1_000_000
_MOST = 20_000
_ENOUGH, _MOST_WINDOWS = 300, 40
_NOW_AND_THEN = 5_000_000
_MOST_NOW_AND_THEN = 5_000
_SPREAD = 0.6180339887
"""Between two looks lies half the interval to one and a half, as this share tells: a loop whose
steps are as long as the interval would else be seen at the same lines again and again."""
_PINS = "_pin_memory_loop"
_SWITCH = 2e-5
"""Seconds after which the loop's thread is asked to let the other one look."""
_SWITCH_NOW_AND_THEN = 1e-3


class _Look:
    """Looks from a thread of its own, which ``threading`` does not know.

    Code in C that keeps the interpreter's lock lets nobody look: what a look stands for is the
    time since the one before.
    """

    def __init__(self, recording: Recording, interval: int, most: int) -> None:
        self.stacks = Stacks()
        self.hits: list[tuple[int, int]] = []
        self.interval = interval
        self._most = most
        self._looking = True
        self._done, self._wake = allocate_lock(), allocate_lock()
        self._done.acquire()
        self._wake.acquire()
        start_new_thread(recording.lines.guarded("samples", self._look), (get_ident(),))

    def stop(self) -> None:
        """Look no more."""
        if self._looking:
            self._looking = False
            self._wake.release()

    def stopped(self) -> bool:
        """Look no more, and wait until that is so; false where it takes too long."""
        self.stop()
        return self._done.acquire(timeout=1)

    def _look(self, thread: int) -> None:
        share = 0.0
        while self._looking:
            self.hits.append((time_ns(), self.stacks.number_in(thread)))
            if len(self.hits) >= self._most:
                del self.hits[::2]
                self.interval *= 2
            share = (share + _SPREAD) % 1
            # After hours that is long: who ends a program does not wait for it.
            self._wake.acquire(timeout=self.interval * (0.5 + share) / 1e9)
        self._done.release()


class _Switch:
    """Has the loop's thread let another one look sooner than usual, and puts that back.

    Else a look waits until the loop calls into torch: Python's own time would be torch's.
    """

    def __init__(self, seconds: float) -> None:
        self._before = sys.getswitchinterval()
        sys.setswitchinterval(min(seconds, self._before))
        self._asked = sys.getswitchinterval()

    def put_back(self) -> None:
        """As it was, unless the program has changed it."""
        if sys.getswitchinterval() == self._asked:
            sys.setswitchinterval(self._before)


class Samples:
    """Looks each millisecond in some steps."""

    def __init__(self, recording: Recording, windows: int = _MOST_WINDOWS) -> None:
        self._recording = recording
        self._most = windows
        self._hits = self._windows = 0

    @property
    def too_few(self) -> bool:
        """Whether more steps should be looked at."""
        return 0 < self._windows < self._most and self._hits < _ENOUGH

    def open(self, step: Callable[[], int]) -> bool:
        """Begin to look."""
        self._switch = _Switch(_SWITCH)
        self._pinned = _pinning()
        self._look = _Look(self._recording, _INTERVAL, _MOST)
        return True

    def drop(self) -> None:
        """Look no more."""
        self._look.stop()
        self._switch.put_back()

    def close(self, first: int, last: int) -> None:
        """Look no more, and write what was seen."""
        self.drop()
        spent = {thread: ns - self._pinned.get(thread, 0) for thread, ns in _pinning().items()}
        self._windows += 1
        self._hits += len(self._look.hits)
        if self._look.stopped():
            self._recording.lines.write(
                "samples",
                interval=self._look.interval,
                first=first,
                last=last,
                stacks=self._look.stacks.places(),
                hits=self._look.hits,
                pinning=sum(spent.values()),
            )


def _pinning() -> dict[int, int]:
    """Nanoseconds of CPU by thread of those that pin a loader's batches, where Linux tells.

    They take batches from the workers with Python code, for which they take turns with the loop.
    """
    threading = sys.modules.get("threading")
    found = {}
    for thread in threading.enumerate() if threading is not None else ():
        if _PINS in thread.name and thread.native_id is not None:
            file = f"/proc/self/task/{thread.native_id}/schedstat"
            with suppress(OSError, ValueError), open(file) as stream:
                found[thread.native_id] = int(stream.read().split()[0])
    return found


class Watch:
    """Looks now and then in all steps, so that what only some of them do is seen as well."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._look: _Look | None = None

    def forget(self) -> None:
        """Begin anew, as after a fork, which takes no thread along."""
        if self._look is not None:
            self._look = None
            self._switch.put_back()

    def begin(self) -> None:
        """Look at the thread that asks, if nobody is looked at yet."""
        if self._look is None:
            self._switch = _Switch(_SWITCH_NOW_AND_THEN)
            self._look = _Look(self._recording, _NOW_AND_THEN, _MOST_NOW_AND_THEN)

    def write(self) -> None:
        """Look no more, and write what was seen."""
        look = self._look
        if look is None:
            return
        self._switch.put_back()
        if look.stopped():
            places, stacks = look.stacks.numbered({number for _, number in look.hits})
            self._recording.lines.write(
                "watch",
                interval=look.interval,
                places=places,
                stacks=stacks,
                hits=look.hits,
            )
