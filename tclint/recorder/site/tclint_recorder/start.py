"""Begin to record this process."""

from __future__ import annotations

import atexit
import os
import sys

from . import overlay
from .imports import AfterImport
from .overlay import Overlay
from .recording import Recording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any


recordings: list[Recording] = []
"""What records this process, once it does."""
_overlays: list[Overlay] = []


def run_script(names: dict[str, Any]) -> None:
    """Run the script's other text as ``__main__``."""
    overlay.run_main(_overlays[0], names)


def begin() -> None:
    """Record this process, and those that it forks."""
    try:
        given, wrong = overlay.read(), ""
    except (OSError, TypeError, ValueError) as error:
        given, wrong = None, str(error)
    if given is not None:
        overlay.become(given)
    recording = Recording(os.path.abspath(os.environ["TCLINT_RECORD"]))
    recordings.append(recording)
    lines = recording.lines
    if wrong:
        lines.note("overlay", wrong)

    def with_torch(torch: ModuleType) -> None:
        recording.has_torch(torch)
        from .with_torch import attach

        attach(torch, recording)

    then: dict[str, Callable[[ModuleType], object]]
    then = {"torch": lines.guarded("torch", with_torch)}
    sys.meta_path.insert(0, AfterImport(then))
    # What is registered first is called last: after all that the program does at its end.
    atexit.register(lines.guarded("end", recording.end))
    os._exit = _leaving(lines.guarded("end", recording.end), os._exit)
    if given is not None:
        _overlays.append(given)
        overlay.put_in_place(given, then)
        recording.at_end.append(lines.guarded("overlay", lambda: _unmarked(given, recording)))
    os.register_at_fork(after_in_child=lines.guarded("fork", recording.forked))


def _unmarked(given: Overlay, recording: Recording) -> None:
    if given.unmarked and recording.uses_torch:
        recording.lines.note("step marker", f"no such place was loaded: {given.unmarked}")


def _leaving(end: Callable[[str], object], leave: Callable[[int], Any]) -> Any:
    # What multiprocessing forks ends with it as well.
    def _exit(status: int) -> None:
        end(f"os._exit({status})")
        leave(status)

    return _exit
