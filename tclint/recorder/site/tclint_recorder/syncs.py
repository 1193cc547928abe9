"""Operations that make the CPU wait for the GPU: torch warns of them, and nobody else hears."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from .recording import Recording
from .stacks import Stacks

_WARNINGS = ("called a synchronizing CUDA operation", "Synchronization debug mode")
_WARN = 1
ENGINE = "_engine_run_backward"
"""The function of torch's in which a thread waits while others run the backward."""


class _Ours:
    """What torch says of syncs, as a filter's pattern."""

    def match(self, text: str) -> bool:
        return text.startswith(_WARNINGS)


class Syncs:
    """Has torch warn, and takes its warnings before any filter or handler of the program."""

    def __init__(self, torch: Any, recording: Recording) -> None:
        self._torch = torch
        self._recording = recording
        self._filter = ("always", _Ours(), UserWarning, None, 0)
        self._changed: list[list[Any]] = []
        self.in_backward = False
        """Whether a backward waited: torch tells of it when it is over."""
        self._mutated = (
            "_filters_mutated_lock_held"
            if hasattr(warnings, "_filters_mutated_lock_held")
            else "_filters_mutated"
        )

    def open(self, step: Callable[[], int]) -> bool:
        """Begin to listen."""
        cuda = self._torch.cuda
        if not cuda.is_initialized():
            return False
        if cuda.get_sync_debug_mode():
            self._recording.lines.note("syncs", "the program sets the sync debug mode itself")
            return False
        self._step = step
        self._stacks = Stacks()
        self._events: list[tuple[int, int]] = []
        self._tell_mutated = getattr(warnings, self._mutated)
        self._show = warnings._showwarnmsg  # type: ignore[attr-defined]
        setattr(warnings, self._mutated, self._filters_changed)
        warnings._showwarnmsg = self._shown  # type: ignore[attr-defined]
        self._filters_changed()
        cuda.set_sync_debug_mode(_WARN)
        return True

    def drop(self) -> None:
        """Listen no more."""
        if self._torch.cuda.get_sync_debug_mode() == _WARN:
            self._torch.cuda.set_sync_debug_mode(0)
        setattr(warnings, self._mutated, self._tell_mutated)
        warnings._showwarnmsg = self._show  # type: ignore[attr-defined]
        for filters in (*self._changed, _filters()):
            if self._filter in filters:
                filters.remove(self._filter)
        self._changed = []
        self._tell_mutated()

    def close(self, first: int, last: int) -> None:
        """Listen no more, and write what was heard."""
        self.drop()
        self._recording.lines.write(
            "syncs", first=first, last=last, stacks=self._stacks.places(), events=self._events
        )

    def _filters_changed(self) -> None:
        # A filter of the program's that makes errors of warnings would else come first.
        filters = _filters()
        if not filters or filters[0] is not self._filter:
            if self._filter in filters:
                filters.remove(self._filter)
            filters.insert(0, self._filter)
            self._changed.append(filters)
        self._tell_mutated()

    def _shown(self, message: Any) -> None:
        if not str(message.message).startswith(_WARNINGS):
            self._show(message)
        elif str(message.message).startswith(_WARNINGS[0]):
            frame = sys._getframe().f_back
            self._events.append((self._step(), self._stacks.number(frame)))
            self.in_backward |= frame is not None and frame.f_code.co_name == ENGINE


def _filters() -> list[Any]:
    current = getattr(warnings, "_get_filters", None)
    found: list[Any] = warnings.filters if current is None else current()  # type: ignore[assignment]
    return found
