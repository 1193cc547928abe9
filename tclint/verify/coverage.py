"""Which lines of the user's files a target executes (child only)."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from tclint.verify.snapshot import outcome
from tclint.verify.subject import Making, Workshop, is_of_user


def executed_rows(making: Making) -> dict[str, list[int]]:
    """The rows by file that making the target and calling it once, not compiled, come through."""
    shop = Workshop(making, None)
    with _tracing(making.root) as seen:
        outcome(shop.make().call_eager)
    return {name: sorted(rows) for name, rows in seen.items()}


@contextmanager
def _tracing(root: Path) -> Iterator[dict[str, set[int]]]:
    """Collect the rows of the user's files, those that are imported meanwhile included."""
    seen: dict[str, set[int]] = defaultdict(set)
    traced = cache(lambda file: os.path.realpath(file) if is_of_user(file, root) else None)

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        name = traced(frame.f_code.co_filename)
        if name is None:
            return None
        rows = seen[name]

        def line(frame: FrameType, event: str, argument: Any) -> Any:
            del event, argument
            rows.add(frame.f_lineno)
            return line

        rows.add(frame.f_lineno)
        return line

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield seen
    finally:
        sys.settrace(before)
