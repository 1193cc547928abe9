"""What nobody expected: one line for people, and a file with the traceback for a report."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import Final

from tclint import __version__
from tclint.printable import visible

_LONGEST: Final = 200
"""Characters of an error's own words."""


def told(error: Exception) -> None:
    """Tell on standard error what went wrong; nothing is told where nobody can be."""
    with suppress(OSError, AttributeError, ValueError):  # it is full, missing, or closed
        sys.stderr.write(f"error: {in_one_line(error)}\n")
        sys.stderr.flush()


def in_one_line(error: Exception) -> str:
    """What went wrong, and the file that has its traceback."""
    # Not by `str`, which the error's own code may answer.
    words = " ".join("".join(traceback.format_exception_only(error)).split())[:_LONGEST]
    ours = "this is an error in tclint, please report it with"
    return f"unexpected {visible(words)}; {ours} {_kept(error)}"


def _kept(error: Exception) -> str:
    """The name of a new file with the traceback, or where it went wrong."""
    text = "".join(traceback.format_exception(error))
    head = f"tclint {__version__}, Python {sys.version}, {platform.platform()}"
    try:
        descriptor, name = tempfile.mkstemp(prefix="tclint-error-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(f"{head}\n{shlex.join(sys.argv)}\n\n{text}")
    except OSError:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        return f"this place: {visible(frame.filename)}:{frame.lineno}"
    return name
