"""The process above a worker, which adopts and ends all that user code leaves running.

A daemon leaves its session and its parent, so that neither a process group nor a list of children
knows of it. On Linux a process may ask to be the parent of all orphans below it: the worker forks
at once, and the one above does nothing else. It also sees how the worker ends, and whether the
system ended it because memory ran out. Elsewhere only the process group is killed.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path

from tclint.records import record
from tclint.verify.descendants import end_descendants
from tclint.verify.wire import plain, rebuild

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_ADOPT_ORPHANS = 36  # PR_SET_CHILD_SUBREAPER
_GLANCE_SECONDS = 1.0
_LONGEST_NOTE = 4096
_ALONE = b"alone"
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
_OOM_KILLS = re.compile(r"^oom_kill (\d+)$", re.M)


@record(frozen=True)
class End:
    """How a worker ended: its status, negative for a signal.

    ``memory_ran_out``: the system killed for want of memory meanwhile; None where nobody counts.
    """

    status: int
    memory_ran_out: bool | None


def keep(note: int) -> None:
    """Fork: return in the worker; the process above it stays, and writes an End to ``note``."""
    verifier, before, open_signals = os.getppid(), oom_kills(), signal.pthread_sigmask(0, ())
    if not _asks_system(_ADOPT_ORPHANS, 1):
        os.write(note, _ALONE)
        os.close(note)
        return
    # User code finds its parent's number: nothing but SIGKILL is to end it.
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    keeper = os.getpid()
    worker = os.fork()
    if worker == 0:
        os.close(note)
        os.setsid()
        # It sees its keeper go, but not while it is stopped, as it is just before it is killed.
        _asks_system(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != keeper:
            os._exit(1)
        signal.pthread_sigmask(signal.SIG_SETMASK, open_signals)
        return
    _let_go_of_streams()
    status = _status_of(worker, verifier)
    end_descendants(os.getpid())
    if status is not None:
        end = End(status, ran_out(before, oom_kills()))
        with suppress(BrokenPipeError):
            os.write(note, json.dumps(plain(end)).encode())
    os._exit(0)


def read_note(note: int, status: int) -> End | None:
    """How the worker ended that had such a note to write; None if its keeper was killed.

    ``status`` is that of the process that was started: the worker's own where nothing keeps it.
    """
    with os.fdopen(note, "rb") as stream:
        text = stream.read(_LONGEST_NOTE)
    if text == _ALONE:
        return End(status, None)
    try:
        return rebuild(End, json.loads(text))
    except ValueError:
        return None


def _asks_system(what: int, value: int) -> bool:
    """Whether the system does so from now on."""
    try:
        import ctypes

        return bool(ctypes.CDLL(None).prctl(what, value, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def _let_go_of_streams() -> None:
    """What the worker closes is to be closed."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.close(nowhere)


def _status_of(worker: int, verifier: int) -> int | None:
    """Wait for the worker and collect orphans; None once the verifier has gone without a word."""
    while os.getppid() == verifier:
        while (ended := _collected())[0] != 0:
            if ended[0] == worker:
                return os.waitstatus_to_exitcode(ended[1])
        if sys.platform == "linux":
            signal.sigtimedwait({signal.SIGCHLD}, _GLANCE_SECONDS)
    return None


def _collected() -> tuple[int, int]:
    """A child that has ended, with its status; 0 where none has."""
    return os.waitpid(-1, os.WNOHANG)


def ran_out(before: int | None, after: int | None) -> bool | None:
    """Whether memory ran out between two counts; None where one is not known."""
    return None if before is None or after is None else after > before


def oom_kills() -> int | None:
    """How many processes the system has killed here because memory ran out; None if unknown."""
    for file in (*_counters(), Path("/proc/vmstat")):
        with suppress(OSError):
            if counted := _OOM_KILLS.search(file.read_text()):
                return int(counted[1])
    return None


def _counters() -> list[Path]:
    """Where the control group of this process may count them; version 1, 2, both, containers."""
    try:
        lines = _OWN_CGROUPS.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            places, name = [_CGROUPS / "memory"], "memory.oom_control"
        elif number == "0":
            places, name = [_CGROUPS, _CGROUPS / "unified"], "memory.events"
        else:
            continue
        found += [base / name for place in places for base in (place / path.lstrip("/"), place)]
    return found
