"""What nobody expected is one line and a file with the traceback, and never looks like findings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tclint import crashes
from tclint.cli import main
from tests.cli_runs import BREAKS, tclint

RAISES = """\
import sys
import tclint.cli.app


class OddError(Exception):
    def __str__(self):
        raise ValueError


def build():
    {what}


tclint.cli.app.build = build
sys.argv = ["tclint", "check", "a b.py"]
from tclint.cli import main
main()
"""
WHATS = {
    "raise TypeError('two\\nlines \\x1b[2J')": "TypeError: two lines \u241b[2J",
    "raise MemoryError": "MemoryError",
    "build()": "RecursionError: maximum recursion depth exceeded",
    "raise OddError": "OddError: <exception str() failed>",
    "raise OSError(28, 'No space left on device', 'x')": "OSError: [Errno 28] No space left on",
    "raise RuntimeError('x')": "RuntimeError: x",
    "raise ModuleNotFoundError('No module named x')": "ModuleNotFoundError: No module named x",
    "raise ValueError('x' * 10**6)": "ValueError: xxxx",
    "raise ExceptionGroup('a', [ValueError(1)])": "ExceptionGroup: a",
}


def crash(tmp_path: Path, what: str, **how: object) -> subprocess.CompletedProcess[bytes]:
    code = RAISES.format(what=what)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, check=False, stdout=subprocess.PIPE, **how
    )  # type: ignore[call-overload]


@pytest.mark.parametrize(("what", "words"), WHATS.items())
def test_it_is_one_line_that_names_the_file_with_the_traceback(
    tmp_path: Path, what: str, words: str
) -> None:
    if "Group" in what and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 has no groups of exceptions")
    done = crash(tmp_path, what, stderr=subprocess.PIPE)
    (file,) = tmp_path.glob("tclint-error-*.txt")
    told = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"")
    assert told.startswith(f"error: unexpected {words}")
    assert told.endswith(f"; this is an error in tclint, please report it with {file}\n")
    assert (len(told.splitlines()), len(told) < 500) == (1, True)
    kept = file.read_text("utf-8")
    assert "tclint check 'a b.py'" in kept
    assert "Traceback (most recent call last)" in kept
    assert "in build" in kept


def test_where_nothing_can_be_told_the_exit_code_still_tells(tmp_path: Path) -> None:
    closed = "import os; os.close(2); raise ValueError"
    assert crash(tmp_path, closed, stderr=subprocess.DEVNULL).returncode == 2


def test_where_no_file_can_be_written_the_place_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**_: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(crashes.tempfile, "mkstemp", full)
    try:
        raise ValueError("x")
    except ValueError as error:
        told = crashes.in_one_line(error)
    assert told.startswith("unexpected ValueError: x; this is an error in tclint, please report")
    assert f"this place: {__file__}:" in told


def test_an_interruption_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise RuntimeError("Error calling __set_name__") from error

    monkeypatch.setattr("tclint.cli.app.build", interrupted)
    monkeypatch.setattr(sys, "argv", ["tclint", "rule"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130


UNREADABLE = {
    "a pipe": os.mkfifo,
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a dangling link": lambda path: path.symlink_to("nowhere"),
    "no permission": lambda path: (path.write_text(""), path.chmod(0)),
    "garbage": lambda path: path.write_bytes(b"\xff\xfe\x00"),
}


def unreadable(what: str, path: Path) -> None:
    if what == "no permission" and os.geteuid() == 0:
        pytest.skip("root may read all")
    UNREADABLE[what](path)


@pytest.mark.parametrize("what", UNREADABLE)
def test_a_file_that_cannot_be_checked_is_counted_and_exit_code_2(
    tmp_path: Path, what: str
) -> None:
    (tmp_path / "net.py").write_text(BREAKS)
    (tmp_path / "clean.py").write_text("x = 1\n")
    unreadable(what, tmp_path / "bad.py")
    done = tclint("check", "net.py", "bad.py", cwd=tmp_path)
    assert done.returncode == 2
    assert "Found 1 finding (1 graph break). 1 file could not be checked." in done.stdout
    assert "error: bad.py:" in done.stderr
    done = tclint("check", "clean.py", "bad.py", cwd=tmp_path)
    assert (done.returncode, "No findings, but 1 file could not be" in done.stdout) == (2, True)
    for more in (("--exit-zero",), ("--output-format", "json"), ("--no-cache",), ("-q",)):
        assert tclint("check", "net.py", "bad.py", *more, cwd=tmp_path).returncode == 2


def test_fix_and_upgrade_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(BREAKS)
    os.mkfifo(tmp_path / "bad.py")
    for more in ((), ("--diff",), ("--unsafe-fixes", "--diff"), ("--exit-non-zero-on-fix",)):
        assert tclint("fix", "net.py", "bad.py", *more, cwd=tmp_path).returncode == 2
    told = ("--from", "2.6", "--to", "2.13")
    assert tclint("upgrade", "net.py", "bad.py", *told, cwd=tmp_path).returncode == 2


def test_a_file_that_is_no_python_is_a_finding_and_no_more(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f(:\n")
    done = tclint("check", "bad.py", cwd=tmp_path)
    assert (done.returncode, "could not be checked" in done.stdout) == (1, False)
    tclint("check", "bad.py", "--baseline", "b.json", "--update-baseline", cwd=tmp_path)
    done = tclint("check", "bad.py", "--baseline", "b.json", cwd=tmp_path)
    assert (done.returncode, "could not be checked" in done.stdout) == (0, False), done.stdout
