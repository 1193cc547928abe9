"""All that a process has started is ended, wherever it has gone (Linux only)."""

from __future__ import annotations

import subprocess
import sys
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


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
