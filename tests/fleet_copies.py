"""A driver to be killed whose units are measured for real: ``python -m tests.fleet_copies FILE``

Its workers are copies of a process that has torch imported, and their children copies of them, so
that a unit costs what measuring it costs, and not what importing does.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import IO, Any

from tclint.fleet.config import read_fleet
from tclint.fleet.local import LocalCrew
from tclint.fleet.session import Again, run_fleet
from tclint.verify import process
from tests import forks
from tests.forks import Forkable, Forked

MODULES = ("tests.verify_worker", "tclint.fleet.worker", "tclint.verify.fixer", "tclint_rules")


def main() -> None:
    _let_start(_Copied(Forkable(MODULES, os.environ | {"PYTHONHASHSEED": "0"})).start)
    ran = run_fleet(
        read_fleet(Path(sys.argv[1])),
        lambda plan: LocalCrew(int(sys.argv[2]) if sys.argv[2:] else 2),
        Again(),
        "",
        lambda done, of, unit, measured: print(done, of, unit.target, unit.arm, flush=True),
    )
    print(ran)


def _let_start(start: Any) -> None:
    stand_in = types.SimpleNamespace(**{**vars(subprocess), "Popen": start})
    process.subprocess = stand_in  # type: ignore[misc, assignment]


class _Copied:
    """Starts workers as copies of a process that is ready."""

    def __init__(self, ready: Forkable) -> None:
        self._ready = ready

    def start(self, command: list[str], **how: Any) -> Forked:
        assert command[1:3] == ["-m", "tclint.fleet.worker"], command
        with _pipes() as (theirs, ours):
            child = self._ready.start(
                "tests.fleet_copies", command[3:], theirs, how["cwd"], how["env"], how["pass_fds"]
            )
            child.stdin, child.stdout, child.stderr = ours()
        return child


@contextlib.contextmanager
def _pipes() -> Any:
    """The standard streams of a child, and what makes files of our ends."""
    (stdin, gives), (takes, stdout), (hears, stderr) = (os.pipe() for _ in range(3))
    try:
        yield (
            (stdin, stdout, stderr),
            lambda: (os.fdopen(gives, "wb"), os.fdopen(takes, "rb"), os.fdopen(hears, "rb")),
        )
    finally:
        for one in (stdin, stdout, stderr):
            os.close(one)


class _Child:
    """A copy of this process; the part of ``subprocess.Popen`` that ``Child`` needs."""

    def __init__(self, command: list[str], **how: Any) -> None:
        self.returncode: int | None = None
        self.stdin: IO[bytes]
        with _pipes() as (theirs, ours):
            request = {
                "module": "tests.verify_worker",
                "arguments": command[3:],
                "cwd": str(how["cwd"]),
                "environment": how["env"],
                "numbers": [0, 1, 2, *how["pass_fds"]],
                "beside": str(how["cwd"]),
                "memory": 0,
            }
            self.pid = os.fork()
            if self.pid == 0:
                with contextlib.suppress(OSError):
                    os.setsid()
                try:
                    forks._become(request, [*theirs, *how["pass_fds"]])
                finally:  # it never goes on as the worker that it is a copy of
                    os._exit(1)
            self.stdin, self.stdout, self.stderr = ours()

    def poll(self) -> int | None:
        if self.returncode is None:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        begin = time.monotonic()
        while self.poll() is None:
            if timeout is not None and time.monotonic() - begin > timeout:
                raise subprocess.TimeoutExpired("", timeout)
            time.sleep(0.01)
        assert self.returncode is not None
        return self.returncode

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _work() -> None:
    """Be a worker, whose children are copies of it."""
    _let_start(_Child)
    runpy.run_module("tclint.fleet.worker", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1].endswith(".toml"):
        main()
    else:
        _work()
