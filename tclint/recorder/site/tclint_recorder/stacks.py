"""Stacks as they repeat: each is kept once, and referred to by its number."""

from __future__ import annotations

import sys
from itertools import accumulate, chain, islice, repeat, starmap, takewhile
from operator import attrgetter, methodcaller
from types import CodeType, FrameType
from typing import Any

_DEEPEST = 400
_WHERE = attrgetter("f_code", "f_lasti")


class Stacks:
    """The stacks of some frames; told what lines they are on when nobody waits."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[tuple[CodeType, int], ...], int] = {}

    def number(self, frame: FrameType | None) -> int:
        """The number of the stack that ends in this frame, one of the thread that asks."""
        return self._numbered(_walked(iter((frame,))))

    def number_in(self, thread: int) -> int:
        """The number of the stack that another thread is in.

        Whoever holds a frame keeps what its function held, and a thread that runs Python may have
        to let another one go on at any time. So no frame is ever held by Python: it is got, asked
        and let go within one call of ``tuple``.
        """
        threads = starmap(sys._current_frames, ((),))
        return self._numbered(_walked(map(methodcaller("get", thread), threads)))

    def _numbered(self, frames: tuple[tuple[CodeType, int], ...]) -> int:
        return self._numbers.setdefault(frames, len(self._numbers))

    def places(self) -> list[list[dict[str, Any]]]:
        """All stacks in the order of their numbers, the outermost place first."""
        return [[_place(*one) for one in reversed(frames)] for frames in self._numbers]

    def numbered(self, wanted: set[int]) -> tuple[list[dict[str, Any]], list[list[int]]]:
        """All places, and for each stack the numbers of its own; those not wanted are empty."""
        known: dict[tuple[CodeType, int], int] = {}
        stacks = [
            [known.setdefault(one, len(known)) for one in reversed(frames)]
            if number in wanted
            else []
            for number, frames in enumerate(self._numbers)
        ]
        return [_place(*one) for one in known], stacks


def _walked(first: Any) -> tuple[tuple[CodeType, int], ...]:
    """Where each frame is, from the one that is given, which is got when the walk begins."""
    return tuple(
        map(
            _WHERE,
            islice(takewhile(bool, accumulate(chain(first, repeat("f_back")), getattr)), _DEEPEST),
        )
    )


def _place(code: CodeType, instruction: int) -> dict[str, Any]:
    row = next(
        (row for start, end, row in code.co_lines() if start <= instruction < end and row),
        code.co_firstlineno,
    )
    return {"filename": code.co_filename, "row": row, "function": code.co_name}
