"""Begin to record this process."""

from __future__ import annotations

import atexit
import os
import sys

from .imports import AfterImport
from .recording import Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


def begin() -> None:
    """Record this process, and those that it forks."""
    recording = Recording(os.path.abspath(os.environ["TCLINT_RECORD"]))
    lines = recording.lines

    def with_torch(torch: ModuleType) -> None:
        recording.has_torch(torch)
        from .with_torch import attach

        attach(torch, recording)

    sys.meta_path.insert(0, AfterImport({"torch": lines.guarded("torch", with_torch)}))
    # What is registered first is called last: after all that the program does at its end.
    atexit.register(lines.guarded("end", recording.end))
    os._exit = _leaving(lines.guarded("end", recording.end), os._exit)
    os.register_at_fork(after_in_child=lines.guarded("fork", recording.forked))


def _leaving(end: Callable[[str], object], leave: Callable[[int], Any]) -> Any:
    # What multiprocessing forks ends with it as well.
    def _exit(status: int) -> None:
        end(f"os._exit({status})")
        leave(status)

    return _exit
