"""What a call prints and logs, and how long that takes (child process only)."""

from __future__ import annotations

import builtins
import contextlib
import logging
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from tclint.verify.breaks import user_frame
from tclint.verify.events import Frame, Output

_Place = tuple[str, int, str]


def outputs(call: Callable[[], object]) -> tuple[Output, ...]:
    """The lines of one call that print or log; a call that raises has them up to there."""
    spent: dict[_Place, list[float]] = defaultdict(list)
    # What the exception means for the results is the comparison's business.
    with _timed(spent), contextlib.suppress(Exception):
        call()
    return tuple(
        Output(file, row, what, len(times), sum(times) * 1e3)
        for (file, row, what), times in sorted(spent.items())
    )


@contextlib.contextmanager
def _timed(spent: dict[_Place, list[float]]) -> Iterator[None]:
    inside = False

    def timed(what: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            nonlocal inside
            if inside:
                return real(*args, **kwargs)
            stack = traceback.extract_stack()[:-1]
            inside, start = True, time.perf_counter()
            try:
                return real(*args, **kwargs)
            finally:
                inside, taken = False, time.perf_counter() - start
                at = user_frame(tuple(Frame(f.filename, f.lineno or 0, f.name) for f in stack))
                spent[at.filename, at.row, what].append(taken)

        return wrapper

    written, handle = builtins.print, logging.Logger.handle
    builtins.print = timed("print", written)
    logging.Logger.handle = timed("log", handle)  # type: ignore[method-assign]
    try:
        yield
    finally:
        builtins.print = written
        logging.Logger.handle = handle  # type: ignore[method-assign]
