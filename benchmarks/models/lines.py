"""Note which lines of a package a call executes (child only)."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable
from types import FrameType
from typing import Any


def executed_lines(
    call: Callable[[], object], counts: Callable[[str], bool]
) -> dict[str, set[int]]:
    """The line numbers by file that run while ``call`` does, of files that count."""
    rows: dict[str, set[int]] = defaultdict(set)

    def in_frame(frame: FrameType, event: str, _: Any) -> Callable[..., Any]:
        if event == "line":
            rows[frame.f_code.co_filename].add(frame.f_lineno)
        return in_frame

    def on_call(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        return in_frame if counts(frame.f_code.co_filename) else None

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        call()
    finally:
        sys.settrace(before)
    return dict(rows)
