"""Everything that a program writes, in order."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def written(form: str = "%(message)s", *, errors: bool = True) -> Iterator[io.StringIO]:
    """Collect standard output, log messages in a ``form``, and warnings.

    Without ``errors``, what goes to standard error is thrown away: progress bars go by the clock.
    """
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    handler.setFormatter(logging.Formatter(form))
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    with warnings.catch_warnings(), contextlib.redirect_stdout(text):
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, category, *_: text.write(
            f"{category.__name__}: {message}\n"
        )
        try:
            with contextlib.redirect_stderr(text if errors else io.StringIO()):
                yield text
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
