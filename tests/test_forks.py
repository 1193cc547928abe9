"""What a copied process has is its own, as if it had been spawned."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli_runs import commands
from tests.forks import Forkable

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

PROGRAM = """\
import os, resource, sys, tempfile
from pathlib import Path
print(Path("/proc/self/environ").read_bytes().count(b"MARK=here"))
print(Path("/proc/self/environ").read_bytes().count(b"ROOM_FOR_VARIABLES"))
print(tempfile.gettempdir())
print(os.getcwd(), sys.path[0])
print(resource.getrlimit(resource.RLIMIT_AS)[0])
print(os.getsid(0) == os.getpid(), sys.stdout.seekable())
sys.exit(3)
"""


@pytest.fixture(scope="module")
def ready() -> Forkable:
    return Forkable(["tests.forks", "tests.cli_runs"], os.environ)


def test_a_copy_has_its_own_environment_folder_and_limits(ready: Forkable, tmp_path: Path) -> None:
    (tmp_path / "drill.py").write_text(PROGRAM)
    (tmp_path / "work").mkdir()
    read, write = os.pipe()
    environment = {**os.environ, "MARK": "here", "TMPDIR": str(tmp_path)}
    with Path(os.devnull).open("rb") as nothing:
        streams = (nothing.fileno(), write, write)
        process = ready.start(
            "drill", [], streams, tmp_path / "work", environment, beside=tmp_path, memory=2 << 30
        )
    os.close(write)
    process.stdout = os.fdopen(read, "rb")
    out, _ = process.communicate()
    assert process.returncode == 3
    assert out.decode().split("\n") == [
        "1",
        "0",
        str(tmp_path),
        f"{tmp_path / 'work'} {tmp_path}",
        str(2 << 30),
        "True False",
        "",
    ]


def test_what_a_copy_prints_goes_where_it_is_told_to(ready: Forkable, tmp_path: Path) -> None:
    (tmp_path / "echo.py").write_text("import sys; print(sys.stdin.read().upper()); sys.exit(1)")
    done = ready.run("echo", [], cwd=tmp_path, env=os.environ, stdin=b"said", timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"SAID\n", b"")


ENDS = {
    "sys.exit()": (0, "over\n"),
    "sys.exit(300)": (44, "over\n"),
    "sys.exit(-1)": (255, "over\n"),
    "sys.exit('why')": (1, "why\nover\n"),
    "1 / 0": (1, "ZeroDivisionError: division by zero\nover\n"),
    "sys.stdout.close(); os.close(1)": (0, "over\n"),
    "threading.Thread(target=lambda: (time.sleep(0.1), print('later'))).start()": (0, "over\n"),
}


@pytest.mark.parametrize("last", ENDS)
def test_a_copy_ends_as_a_process_does(ready: Forkable, tmp_path: Path, last: str) -> None:
    said = "lambda: os.write(2, b'over\\n')"
    text = f"import atexit, os, sys, threading, time\natexit.register({said})\n{last}\n"
    (tmp_path / "ends.py").write_text(text)
    copied = ready.run("ends", [], cwd=tmp_path, env=os.environ, timeout=60)
    command = [sys.executable, "-m", "ends"]
    started = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert (copied.returncode, copied.stdout) == (started.returncode, started.stdout)
    status, err = ENDS[last]
    for one in (copied, started):
        assert one.returncode == status
        assert one.stderr.decode().endswith(err)


def test_a_copy_that_cannot_write_what_it_said_ends_as_a_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "full.py").write_text("print('lost')")
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    buffering = Forkable(["tests.forks"], os.environ)
    with Path("/dev/full").open("wb") as full, Path(os.devnull).open("r+b") as nothing:
        streams = (nothing.fileno(), full.fileno(), nothing.fileno())
        copied = buffering.start("full", [], streams, tmp_path, os.environ)
        command = [sys.executable, "-m", "full"]
        started = subprocess.run(command, cwd=tmp_path, stdout=full, check=False)
        assert copied.wait(60) == started.returncode == 120


def test_copies_of_commands_are_small(tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(
        "import sys; print(sorted({'torch', 'mcp', 'pygls'} & sys.modules.keys()))"
    )
    done = Forkable(commands(), os.environ).run(
        "held", [], cwd=tmp_path, env=os.environ, timeout=60
    )
    assert done.stdout == b"[]\n"


def test_workers_of_a_run_share_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "parent.py").write_text("import os; print(os.getppid())")
    monkeypatch.setenv("PYTEST_XDIST_TESTRUNUID", str(tmp_path))

    def parent(one: Forkable) -> int:
        done = one.run("parent", [], cwd=tmp_path, env=os.environ, timeout=60)
        return int(done.stdout)

    one, other = (Forkable(["tests.forks"], os.environ, shared=True) for _ in range(2))
    more_threads = Forkable(["tests.forks"], os.environ | {"OMP_NUM_THREADS": "2"}, shared=True)
    serves = parent(one)
    assert parent(other) == serves != parent(more_threads)
    del one
    assert parent(other) == serves
    del other
    assert os.waitpid(serves, 0) == (serves, 0)
