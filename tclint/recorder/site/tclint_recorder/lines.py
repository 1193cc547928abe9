"""Lines of JSON, in a file of this process; no failure to write one is the program's business."""

from __future__ import annotations

import os
from _json import encode_basestring_ascii as _quoted
from _thread import RLock
from time import time_ns

TYPE_CHECKING = False  # typing's own would load typing
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Any

_NOTES = 100
_FLAGS = os.O_WRONLY | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


class Lines:
    """Appends lines to ``process-<pid>-<n>.jsonl``.

    The file is opened for each line: a program may close all files, fork, or remove the folder.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.describe: Callable[[], dict[str, Any]] = dict
        """What the line of the process says."""
        self.start_over(described=False)

    def start_over(self, *, described: bool) -> None:
        """Begin another file; with ``described`` its first line is not written before the next."""
        self._lock = RLock()  # a signal's handler may write while a line is written
        self._path: str | None = None
        self._notes: set[tuple[str, str]] = set()
        self._torn = False
        self._due = described

    def write(self, kind: str, **fields: Any) -> None:
        """Append one line."""
        with self._lock:
            if self._due:
                self._due = False
                self.write("process", **self.describe())
            text = (encoded({"kind": kind, **fields}) + "\n").encode()
            # What a full disk cut off must not take the next line with it.
            self._torn = not self._append(b"\n" + text if self._torn else text)

    def note(self, what: str, reason: str) -> None:
        """Say once what could not be recorded, and why."""
        told = (what, reason)
        if told not in self._notes and len(self._notes) < _NOTES:
            self._notes.add(told)
            self.write("note", what=what, reason=reason)

    def guarded(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose failures become notes; gives None then."""

        def guarded(*args: Any) -> Any:
            try:
                return function(*args)
            except Exception as error:  # noqa: BLE001 - the program goes on whatever it is
                self._tell(what, error)
                return None

        return guarded

    def _tell(self, what: str, error: Exception) -> None:
        try:
            self.note(what, f"{type(error).__name__}: {error}"[:2000])
        except Exception:  # noqa: BLE001 - there is nowhere left to say it
            pass

    def beside(self, name: str, ending: str) -> str:
        """A path for a file that belongs to this process."""
        return os.path.join(self.folder, f"{name}-{os.getpid()}-{time_ns()}{ending}")

    def _append(self, text: bytes) -> bool:
        try:
            file = self._opened()
            try:
                while text:
                    text = text[os.write(file, text) :]
            finally:
                os.close(file)
        except OSError as error:
            self._lost(error)
            return False
        return True

    def _lost(self, error: OSError) -> None:
        """Say by the name of an empty file why a line is not there: that may still be possible."""
        path = os.path.join(self.folder, f"lost-{os.getpid()}-{error.errno}")
        try:
            os.close(os.open(path, _FLAGS | os.O_CREAT, 0o644))
        except OSError:
            pass

    def _opened(self) -> int:
        if self._path is not None:
            return os.open(self._path, _FLAGS)
        number = 0
        while True:
            path = os.path.join(self.folder, f"process-{os.getpid()}-{number}.jsonl")
            try:
                file = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o644)
            except FileExistsError:
                number += 1
                continue
            self._path = path
            return file


def encoded(value: Any) -> str:
    """The value as JSON."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value) if value - value == 0 else "null"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(str(k))}:{encoded(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(encoded, value)) + "]"
    return _quoted(str(value))


def place(frame: FrameType) -> dict[str, Any]:
    """A frame's line, as a ``Place``."""
    code = frame.f_code
    return {"filename": code.co_filename, "row": frame.f_lineno, "function": code.co_name}


def user_frame(frame: FrameType, foreign: tuple[str, ...]) -> FrameType:
    """The nearest frame at or above this one that is in none of the folders."""
    at: FrameType | None = frame
    while at is not None:
        if not at.f_code.co_filename.startswith(foreign):
            return at
        at = at.f_back
    return frame
