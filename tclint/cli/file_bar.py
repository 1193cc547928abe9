"""A bar on standard error while a long run goes on."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

PATIENCE: Final = 1.0
"""Seconds before anything is shown: most runs are over by then."""
WIDEST: Final = 40
_MARKS: Final = "━╌"
_PLAIN_MARKS: Final = "#-"


class Bar:
    """How far a run is."""

    def __init__(self, stream: TextIO, total: int, patience: float = PATIENCE) -> None:
        """``total`` is the number of files; nothing is drawn for ``patience`` seconds."""
        self._stream, self._total, self._done = stream, total, 0
        self._from = time.monotonic() + patience
        self._drawn = False

    def advance(self, files: int) -> None:
        """Some more files are done; after fixes, files are looked at again."""
        self._done = min(self._done + files, self._total)
        if time.monotonic() >= self._from:
            self._drawn = True
            self._stream.write("\r" + self.text(shutil.get_terminal_size().columns))
            self._stream.flush()

    def clear(self) -> None:
        """Leave the line as if nothing had been there."""
        if self._drawn:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()

    def text(self, columns: int) -> str:
        """The line: ``━━━━━━╌╌╌╌ 512/1248 Checking``, like that of other commands."""
        said = f"{self._done}/{self._total} Checking"
        room = min(WIDEST, columns - len(said) - 2)
        if room < 1:
            return said[: max(columns - 1, 0)]
        done, left = _MARKS if _takes(self._stream, _MARKS) else _PLAIN_MARKS
        filled = room * self._done // max(self._total, 1)
        return f"{done * filled}{left * (room - filled)} {said}"


def _takes(stream: TextIO, text: str) -> bool:
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


@contextmanager
def file_bar(total: int) -> Iterator[Callable[[int], None] | None]:
    """Show a bar on a terminal; gives what to call when files are done."""
    stream = sys.stderr
    if not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    bar = Bar(stream, total)
    try:
        yield bar.advance
    finally:
        bar.clear()
