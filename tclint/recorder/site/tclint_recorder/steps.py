"""The steps of the program's loop: what ends one, and when."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from time import time_ns
from typing import Any

from .calls import Calls
from .lines import place, user_frame
from .losses import Losses
from .recording import Recording
from .samples import Watch
from .windows import Windows

_BACKWARD = "backward"
_CALL = "call"
_FEWEST_CALLS = 5
_ACCUMULATED = 32
"""So many times ``backward`` may be called before the first step of an optimizer."""


class Loop:
    """Finds what ends a step, and counts.

    An optimizer's step does; of several optimizers the one that steps least often, and among
    equals the last of them. Without any, a ``backward`` begins the next step. Where nothing
    trains, a call does of the module, or compiled function, that is called again and again: of
    those that are called within each other, the outermost.
    """

    def __init__(
        self,
        recording: Recording,
        windows: Windows,
        losses: Losses,
        watch: Watch,
        *,
        about: Callable[[], object],
        trains: Callable[[], bool],
        warm_up: int,
        limit: int,
        named: bool,
    ) -> None:
        self._recording = recording
        self._windows = windows
        self._losses = losses
        self._watch = watch
        self._about = about
        self._trains = trains
        self.calls: Calls | None = None
        """Hears of calls, as long as nothing trains."""
        self._warm_up = warm_up
        self._limit = limit
        self._named = named
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a fork."""
        self._ends: dict[Any, list[int]] = {}
        self._places: dict[Any, dict[str, Any]] = {}
        self._marker: Any = None
        self._others = self._most_others = 0
        self._next_write = 0
        self._called: dict[int, list[int]] = {}

    def called(self, one: Any) -> None:
        """A module, or a compiled function, is about to run."""
        if self.calls is None or (self._marker is not None and self._marker != _CALL):
            return
        if self._marker is None:
            self._count(one)
        elif one is self.calls.only:
            self.calls.most = max(self.calls.most, 3 * (self.calls.others + self._warm_up))
            self.calls.others = 0
            self._seen(_CALL, time_ns())
        else:
            self._forget_calls()

    def _count(self, one: Any) -> None:
        times = self._called.setdefault(id(one), [])
        times.append(time_ns())
        if len(times) < max(_FEWEST_CALLS, self._warm_up):
            return
        if self._ends or self._named or self._trains():
            self._train()
            return
        assert self.calls is not None
        self.calls.only, self.calls.most = one, 3 * sum(map(len, self._called.values()))
        self._marker, self._called = _CALL, {}
        self._seen(_CALL, times.pop())
        self._ends[_CALL][:0] = times

    def _forget_calls(self) -> None:
        """What was called again and again is called no more, or it was no training after all."""
        self._ends.pop(_CALL, None)
        self._called, self._marker = {}, None
        if self.calls is not None:
            self.calls.only, self.calls.others, self.calls.most = None, 0, 0
        self._windows.begin_anew()

    def _train(self) -> None:
        """Something trains: calls end no step."""
        if self.calls is not None:
            self.calls.stop()
        if self._marker == _CALL:
            self._forget_calls()
        self.calls = None

    def optimizer_stepped(self, optimizer: Any) -> None:
        """An optimizer has made a step."""
        self._train()
        if self._marker == _BACKWARD and not self._windows.begun:
            self._marker = None
        self._seen(id(optimizer), time_ns())

    def backward_began(self, outputs: Any) -> None:
        """A ``backward`` is about to run."""
        now = time_ns()
        self._train()
        if self._losses.open:
            self._losses.take(outputs, now)
            if not self._losses.open:
                self._losses.ends = self._ends.get(self._marker, ())
                self._losses.write()
        self._seen(_BACKWARD, now)

    def marked(self) -> None:
        """The program has come to the place that the user named."""
        self._marker = "marker"
        self._seen(self._marker, time_ns())

    def _seen(self, key: Any, now: int) -> None:
        ends = self._ends.get(key)
        if ends is None:
            if not self._ends:
                self._about()
                self._watch.begin()
            ends = self._ends[key] = []
            frame = user_frame(sys._getframe(), self._recording.libraries())
            self._places[key] = place(frame)
        ends.append(now)
        if key == self._marker:
            self._most_others = max(self._most_others, self._others)
            self._others = 0
            self._step_over(ends)
        elif self._marker is None and not self._named:
            self._choose(key)
        elif key not in {_BACKWARD, _CALL} and not self._named:
            self._give_way(key)

    def _choose(self, key: Any) -> None:
        """Say what ends a step, once one of those that may has done so often enough."""
        enough = min(self._warm_up, self._limit or self._warm_up)
        wanted = max(enough, _ACCUMULATED) if key == _BACKWARD else enough
        if len(self._ends[key]) < wanted:
            return
        if key == _BACKWARD and (len(self._ends) > 1 or self._in_optimizer()):
            return
        self._marker = self._likeliest()
        self._step_over(self._ends[self._marker])

    def _in_optimizer(self) -> bool:
        """Whether an optimizer calls what computes the loss: its step is the one that counts."""
        within = os.path.dirname(sys.modules["torch.optim"].__file__ or "") + os.sep
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            if frame.f_code.co_filename.startswith(within):
                return True
        return False

    def _likeliest(self) -> Any:
        optimizers = {key: ends for key, ends in self._ends.items() if key != _BACKWARD}
        again = {key: ends for key, ends in optimizers.items() if len(ends) > 1}
        among = again or optimizers or self._ends
        return min(among, key=lambda key: (len(among[key]), -among[key][-1]), default=None)

    def _give_way(self, key: Any) -> None:
        """Another optimizer takes over where the one that ended the steps has stopped."""
        self._others += 1
        if self._others > 3 * self._most_others + 3:
            ends = self._ends[self._marker]
            self._ends[key] = ends + [at for at in self._ends[key] if at > ends[-1]]
            self._marker = key
            self._others = 0
            self._step_over(self._ends[key])

    def _step_over(self, ends: list[int]) -> None:
        count = len(ends)
        if count >= self._warm_up:
            self._windows.step_over(count, self._warm_up)
        if count >= self._next_write:
            self._next_write = count + count // 4 + 10
            self.write()
        if self._limit and count >= self._limit + (self._marker in {_BACKWARD, _CALL}):
            self._recording.how = f"stopped after {self._limit} steps"
            raise SystemExit(0)

    def write(self) -> None:
        """Write all the steps until now."""
        key = self._likeliest() if self._marker is None else self._marker
        ends = self._ends.get(key)
        if not ends:
            return
        self._losses.ends = ends
        named = isinstance(key, str)
        self._recording.lines.write(
            "steps",
            marker=key if named else "optimizer.step",
            place=self._places[key],
            ends=ends,
            warm_up=self._warm_up,
            watched=self._windows.watched,
        )
