"""Folders for as long as something is worked out, and no longer.

A run that is killed leaves its folder behind: the next one that needs such a folder removes it.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Final

from tclint.regexes import regex

_NAME: Final = regex(r"\.tclint-scratch-[a-z]+-[a-z0-9_]{8}")
"""Nobody else names a folder so: others of ours are not locked, and must not be removed."""
_JUST_MADE: Final = 60
"""Seconds in which a folder may not be locked yet by the run that made it."""
_ABANDONED: Final = 86_400
"""Seconds after which a folder counts as left behind where nothing tells who uses it: Windows."""


@contextmanager
def scratch(purpose: str) -> Iterator[Path]:
    """An empty folder that is removed at the end of the block; ``purpose`` is part of its name."""
    _sweep(gettempdir())
    with TemporaryDirectory(prefix=f".tclint-scratch-{purpose}-") as folder, locked(Path(folder)):
        yield Path(folder)


@contextmanager
def locked(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Keep others from a folder that lock it as well; False where that cannot be had.

    A file system may have no locks, and Windows has none for folders.
    """
    if sys.platform == "win32":
        yield False
        return
    import fcntl

    descriptor = -1
    try:
        with suppress(OSError):
            opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
                descriptor = opened
            except OSError:
                os.close(opened)
        yield descriptor >= 0
    finally:
        if descriptor >= 0:
            os.close(descriptor)  # which unlocks


@cache
def _sweep(place: str) -> None:
    """Remove what killed runs of ours have left; once in a process."""
    with suppress(OSError), os.scandir(place) as listing:
        for entry in [*listing]:
            if _NAME.fullmatch(entry.name):
                with suppress(OSError):
                    _remove(entry)


def _remove(entry: os.DirEntry[str]) -> None:
    status = entry.stat(follow_symlinks=False)
    if not entry.is_dir(follow_symlinks=False):
        return
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        return
    age = time.time() - status.st_mtime
    if sys.platform == "win32" and age < _ABANDONED:
        return
    with locked(Path(entry.path)) as is_unused:
        if age > _JUST_MADE and (is_unused or sys.platform == "win32"):
            shutil.rmtree(entry.path, ignore_errors=True)
