"""Which lines of the user's files a target executes (child only)."""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

from tclint.verify.snapshot import outcome
from tclint.verify.subject import Making, Workshop


def executed_rows(making: Making) -> dict[str, list[int]]:
    """The rows by file that making the target and calling it once, not compiled, come through."""
    shop = Workshop(making, None)
    with _tracing(f"{making.root.resolve()}{os.sep}") as seen:
        outcome(shop.make().call_eager)
    known = frozenset(shop.files)  # by now: the factory, and the call, may import some, too
    return {name: sorted(rows) for name, rows in seen.items() if name in known}


@contextmanager
def _tracing(root: str) -> Iterator[dict[str, set[int]]]:
    seen: dict[str, set[int]] = defaultdict(set)
    real = cache(os.path.realpath)

    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        name = real(frame.f_code.co_filename)
        if not name.startswith(root):
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
