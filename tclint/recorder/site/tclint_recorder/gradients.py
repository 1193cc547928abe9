"""Which line's operation each part of a backward belongs to, where one waits for the GPU."""

from __future__ import annotations

import sys
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import Any

from .backward import skip_code
from .profiles import Profiles
from .recording import Recording
from .stacks import Stacks
from .syncs import Syncs


class Gradients:
    """Profiles a step more where a backward waited, and notes the line of each operation.

    torch's threads run the backward without any frame of Python. What they share with the forward
    is the number that autograd gives to an operation, which the profiler tells. Anomaly mode asks
    for a traceback where an operation gets its number: it gets none, and the line is noted.
    """

    def __init__(self, torch: Any, recording: Recording, syncs: Syncs) -> None:
        self._torch = torch
        self._recording = recording
        self._syncs = syncs
        self._profiles = Profiles(torch, recording)

    def open(self, step: Callable[[], int]) -> bool:
        """Begin to note lines, if the waits that were heard before were in a backward."""
        if not self._syncs.in_backward or self._torch.is_anomaly_enabled():
            return False
        if not self._profiles.open(step):
            return False
        self._stacks = Stacks()
        self._numbers: dict[int, int] = {}
        self._thread = get_ident()
        self._format = sys.modules["torch.fx.traceback"].format_stack
        skip_code(self._torch, self._noted.__func__.__code__)  # type: ignore[attr-defined]
        sys.modules["torch.fx.traceback"].format_stack = self._noted  # type: ignore[attr-defined]
        self._torch.set_anomaly_enabled(True, False)
        return True

    def drop(self) -> None:
        """Note nothing more."""
        self._torch.set_anomaly_enabled(False)
        sys.modules["torch.fx.traceback"].format_stack = self._format  # type: ignore[attr-defined]
        self._profiles.drop()

    def close(self, first: int, last: int) -> None:
        """Note nothing more, and write which lines and what the profiler saw."""
        trace = self._profiles.taken()
        self.drop()
        if trace is not None:
            self._recording.lines.write(
                "gradients",
                first=first,
                last=last,
                file=trace,
                stacks=self._stacks.places(),
                numbers=list(self._numbers.items()),
            )

    def _noted(self) -> list[str]:
        """Stands in for what makes the traceback; where torch compiles, that is asked."""
        if sys.modules["torch.fx.traceback"].has_preserved_node_meta():
            return list(self._format())
        if get_ident() == self._thread:
            callback = self._torch._C._dynamo.eval_frame.set_eval_frame
            before = callback(None)
            try:
                self._note(sys._getframe().f_back)
            finally:
                callback(before)
        return []

    def _note(self, frame: FrameType | None) -> None:
        # The number has been counted on when the operation has it.
        number = self._torch.autograd._get_sequence_nr() - 1
        self._numbers[number] = self._stacks.number(frame)
