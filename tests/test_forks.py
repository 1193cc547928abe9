"""What a copied process has is its own, as if it had been spawned."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

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
