"""Stacks as they repeat: each is kept once, and referred to by its number."""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any

_DEEPEST = 400


class Stacks:
    """The stacks of some frames; told what lines they are on when nobody waits."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[tuple[CodeType, int], ...], int] = {}

    def number(self, frame: FrameType | None) -> int:
        """The number of the stack that ends in this frame."""
        frames: list[tuple[CodeType, int]] = []
        while frame is not None and len(frames) < _DEEPEST:
            frames.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        return self._numbers.setdefault(tuple(frames), len(self._numbers))

    def places(self) -> list[list[dict[str, Any]]]:
        """All stacks in the order of their numbers, the outermost place first."""
        return [[_place(*one) for one in reversed(frames)] for frames in self._numbers]


def _place(code: CodeType, instruction: int) -> dict[str, Any]:
    row = next(
        (row for start, end, row in code.co_lines() if start <= instruction < end and row),
        code.co_firstlineno,
    )
    return {"filename": code.co_filename, "row": row, "function": code.co_name}
