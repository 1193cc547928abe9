"""Runs ``tclint`` as a person does, within bounds, and says what no run of it may show."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import threading
import tty
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 60
"""Longer than any of these runs takes on a busy machine: who needs more hangs."""
MEMORY = 3 << 30
PRINTED = 1 << 21
"""Bytes that a run over a handful of files may print: one of them has 3,000 findings."""
ESCAPES = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
"""What a terminal obeys instead of showing it; line ends and tabs are none."""
_DIE_WITH_PARENT = 1
TCLINT = str(Path(sys.executable).with_name("tclint"))


@dataclass(frozen=True, slots=True)
class Done:
    """A run that is over; ``code`` is None when it had to be ended."""

    code: int | None
    out: bytes
    err: bytes

    @property
    def printed(self) -> bytes:
        """Both streams."""
        return self.out + self.err


def started(
    arguments: Sequence[str | bytes],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    memory: int = MEMORY,
    stdout: int = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start ``tclint`` in a session of its own, with little memory."""

    def bounded() -> None:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    return subprocess.Popen(
        [TCLINT, *arguments],
        cwd=folder,
        env=clean_environment() | dict(environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=bounded,  # noqa: PLW1509 (it sets limits, and takes no lock)
    )


def ran(
    *arguments: str | bytes,
    folder: Path,
    environment: Mapping[str, str] | None = None,
    memory: int = MEMORY,
    seconds: float = SECONDS,
) -> Done:
    """Run ``tclint``; what takes too long is ended with all that it started in its session."""
    process = started(arguments, folder, environment, memory=memory)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        kill(process)
        out, err = process.communicate()
        return Done(None, out, err)
    return Done(process.returncode, out, err)


def shown(*arguments: str, folder: Path, environment: Mapping[str, str]) -> Done:
    """Run ``tclint`` on a terminal that changes nothing of what it is sent."""
    ours, theirs = pty.openpty()
    tty.setraw(theirs)
    environment = {**environment, "NO_COLOR": "1", "TERM": "dumb"}
    process = started(arguments, folder, environment, stdout=theirs)
    os.close(theirs)
    timer = threading.Timer(SECONDS, kill, [process])
    timer.start()
    parts = []
    # Reading fails when the other side is closed.
    with contextlib.suppress(OSError):
        while part := os.read(ours, 1 << 16):
            parts.append(part)
    _, err = process.communicate()
    os.close(ours)
    timed_out = not timer.is_alive()
    timer.cancel()
    return Done(None if timed_out else process.returncode, b"".join(parts), err)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process that :func:`started` made, and its session, without warning."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def clean_environment() -> dict[str, str]:
    """The environment without what changes how programs print, or which repository Git sees."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GIT_", "PYTHON", "TCLINT", "PYTEST"))
    } | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def complaints(done: Done) -> Iterator[str]:
    """What no run may show, whatever it was given."""
    if done.code is None:
        yield "it did not end"
    elif done.code not in (0, 1, 2):
        yield f"it ended with {done.code}: {words(done.err)}"
    if b"Traceback (most recent call last)" in done.printed:
        yield f"it printed a traceback: {words(done.err)}"
    if b"this is an error in tclint" in done.printed:
        yield f"it met what nobody expected: {words(done.err)}"
    if len(done.printed) > PRINTED:
        yield f"it printed {len(done.printed):,} bytes"
    escape = ESCAPES.search(done.printed)
    if escape is not None:
        around = done.printed[max(0, escape.start() - 60) : escape.end() + 40]
        yield f"it printed what a terminal obeys: {around!r}"


def words(data: bytes) -> str:
    """The end of what a process printed, for a failure's text."""
    return data[-1500:].decode("utf-8", "backslashreplace").strip()
