"""Stretches of steps that are looked at closely, one after the other."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from .gradients import Gradients
from .profiles import Profiles
from .recording import Recording
from .samples import Samples
from .syncs import Syncs

_SIZES = "3,20,3"


class Window(Protocol):
    """Something that is looked at during some steps."""

    def open(self, step: Callable[[], int]) -> bool:
        """Begin to look; false where there is nothing to see. ``step`` tells the one that runs."""

    def close(self, first: int, last: int) -> None:
        """Look no more, and write what was seen from the first to the last step."""

    def drop(self) -> None:
        """Look no more, and write nothing."""


class Windows:
    """Opens and closes windows as the steps go by; a step lies between any two.

    The samples of short steps are few: then there are further windows of them, with as many steps
    in between that nobody looks at.
    """

    def __init__(
        self,
        recording: Recording,
        plan: Sequence[tuple[Window, int]],
        samples: Samples | None = None,
        size: int = 0,
    ) -> None:
        self._recording = recording
        self._whole = tuple(plan)
        self._samples, self._size = samples, size
        self._open: Window | None = None
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a fork: an open window was the parent's."""
        self._open = None
        self._left = list(self._whole)
        self._first = self._due = self._count = self._thread = 0
        self.watched: list[tuple[int, int]] = []
        """The steps, first and last, that were slowed."""
        self.begun = False

    def begin_anew(self) -> None:
        """What was looked at is no step after all: close what is open, and forget it."""
        if self._open is not None:
            self._open.drop()
        self.forget()

    def step_over(self, count: int, warm_up: int) -> None:
        """So many steps are over."""
        self._count = count
        if count < self._due or (self._open is not None and get_ident() != self._thread):
            return
        if self._open is not None:
            self._close()
            self._due = count + 1
        elif self._left:
            self.begun = True
            self._open_next()
        elif self.begun and self._samples is not None and self._samples.too_few:
            self._left.append((self._samples, self._size))
            self._due = count + self._size

    def finish(self) -> None:
        """Close what is open: the program ends."""
        self._left = []
        if self._open is None:
            return
        if self._count > self._first and get_ident() == self._thread:
            self._close()
        else:
            self._open.drop()
            self._open = None

    def _open_next(self) -> None:
        while self._left:
            window, size = self._left.pop(0)
            self._first, self._thread = self._count, get_ident()
            opened = self._recording.lines.guarded("a window", window.open)
            if size and opened(lambda: self._count):
                self._open = window
                self._due = self._count + size
                return

    def _close(self) -> None:
        window, self._open = self._open, None
        first, last = self._first, self._count - 1
        # What is written at its end is part of the step after it.
        self.watched.append((first, last + 1))
        if window is not None:
            self._recording.lines.guarded("a window", window.close)(first, last)


def planned(torch: Any, recording: Recording, told: Mapping[str, str]) -> Windows:
    """The windows in their order, each with its number of steps.

    A fourth number is how often samples are taken at most.
    """
    text = told.get("TCLINT_RECORD_WINDOW", _SIZES)
    sizes = [int(size) for size in text.split(",") if size.strip().isdecimal()]
    if len(sizes) not in {3, 4}:
        recording.lines.note("windows", f"not three numbers, or four: {text}")
        return Windows(recording, ())
    syncs, looks, profile, *most = sizes
    heard, samples = Syncs(torch, recording), Samples(recording, *most)
    plan = (
        (heard, syncs),
        (samples, looks),
        # One more step: the first holds the time that a profiler takes to begin.
        (Profiles(torch, recording), profile and profile + 1),
        (Gradients(torch, recording, heard), min(profile, 1)),
    )
    return Windows(recording, plan, samples if looks else None, looks)
