"""All that a process has started is ended, wherever it has gone (Linux only)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tclint.verify.descendants import end_descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

BOMB = """\
import os, time
for number in range(500):
    if os.fork() == 0:
        os.setsid()
        if number % 5 == 0 and os.fork() == 0:
            os.setsid()
        time.sleep(900)
print("all are there", flush=True)
time.sleep(900)
"""
KEPT = """\
import os, sys, time
from tclint.verify.keeper import keep
told = os.dup(1)  # the keeper lets go of the streams that it has
keep(os.open(os.devnull, os.O_WRONLY))
os.write(told, b"%d\\n" % os.getpid())
time.sleep(900)
"""


def children(process: int) -> list[int]:
    tasks = Path(f"/proc/{process}/task").iterdir()
    return [int(one) for task in tasks for one in (task / "children").read_text().split()]


def test_hundreds_of_sessions_end_with_the_process_that_started_them() -> None:
    root = subprocess.Popen([sys.executable, "-c", BOMB], stdout=subprocess.PIPE)
    assert root.stdout is not None
    try:
        assert root.stdout.readline() == b"all are there\n"
        below = children(root.pid)
        everybody = [*below, *(one for child in below for one in children(child))]
        assert len(everybody) >= 500
        assert end_descendants(root.pid)
        assert not [one for one in everybody if is_alive(one)]
        assert root.poll() is None  # who started them is somebody else's to end
    finally:
        root.kill()
        root.wait()
        root.stdout.close()


def test_what_is_stopped_ends_with_the_process_that_keeps_it() -> None:
    """Who ends a keeper just then would leave it stopped for good."""
    keeper = subprocess.Popen([sys.executable, "-c", KEPT], stdout=subprocess.PIPE)
    assert keeper.stdout is not None
    try:
        worker = int(keeper.stdout.readline())
        assert worker != keeper.pid
        os.kill(worker, signal.SIGSTOP)
    finally:
        keeper.kill()
        keeper.wait()
        keeper.stdout.close()
    deadline = time.monotonic() + 60
    while is_alive(worker):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
