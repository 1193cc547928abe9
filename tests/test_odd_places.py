"""Files that are more than their text, folders that others use too, and disks that are full."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from tclint.source.errors import SourceError
from tclint.source.write import NewText, sweep, write_all
from tests.cli_runs import BREAKS, commit_all, tclint

posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")
PRINTS: Final = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.zeros(3).to(x.device)
        return x * y
"""


def new(path: Path, text: str = "x = 2\n") -> NewText:
    return NewText(path, text, "utf-8")


def one(folder: Path, name: str = "a.py", text: str = "x = 1\n") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@posix
def test_other_names_of_a_file_keep_the_old_text_and_it_is_said(tmp_path: Path) -> None:
    path = one(tmp_path)
    os.link(path, tmp_path / "other")
    assert write_all([new(path)]) == (path,)
    assert path.read_text(encoding="utf-8") == "x = 2\n"
    assert (tmp_path / "other").read_text(encoding="utf-8") == "x = 1\n"
    assert write_all([new(path, "x = 3\n")]) == ()


@posix
def test_a_fix_says_that_other_names_keep_the_old_text(tmp_path: Path) -> None:
    path = one(tmp_path, text=PRINTS)
    os.link(path, tmp_path / "other")
    done = tclint("fix", "a.py", cwd=tmp_path)
    assert path.read_text(encoding="utf-8") != PRINTS, done.stdout
    assert "a.py has other names (hard links), which keep the old text" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="attributes are Linux's")
def test_attributes_of_a_file_stay(tmp_path: Path) -> None:
    path = one(tmp_path)
    try:
        os.setxattr(path, "user.origin", b"mine")
    except OSError:
        pytest.skip("this file system has no attributes")
    write_all([new(path)])
    assert os.getxattr(path, "user.origin") == b"mine"


def test_a_file_with_the_longest_name_is_written(tmp_path: Path) -> None:
    path = one(tmp_path, "a" * 252 + ".py")
    write_all([new(path)])
    assert path.read_text(encoding="utf-8") == "x = 2\n"


LEFT: Final = (".tclint-abcd1234", ".tclint-abcd1234.old")
OTHERS: Final = (".tclint-abcd1234.txt", ".a.py.swp", ".tclint-notes", "tclint-abcd1234")


@posix
def test_what_a_killed_run_has_left_is_removed_by_the_next(tmp_path: Path) -> None:
    path = one(tmp_path)
    for name in (*LEFT, *OTHERS):
        one(tmp_path, name)
    (tmp_path / ".tclint-folder12").mkdir()
    write_all([new(path)])
    assert {each.name for each in tmp_path.iterdir()} == {"a.py", ".tclint-folder12", *OTHERS}


@posix
def test_what_a_killed_fix_has_left_is_removed_where_nothing_is_to_be_fixed(
    tmp_path: Path,
) -> None:
    one(tmp_path)
    one(tmp_path, LEFT[0])
    tclint("fix", ".", "--diff", cwd=tmp_path)
    assert (tmp_path / LEFT[0]).exists()
    tclint("fix", ".", cwd=tmp_path)
    assert not (tmp_path / LEFT[0]).exists()


@posix
def test_what_a_living_run_writes_is_not_removed(tmp_path: Path) -> None:
    import fcntl

    left = one(tmp_path, LEFT[0])
    descriptor = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    sweep([str(tmp_path)])
    assert left.exists()
    os.close(descriptor)
    sweep([str(tmp_path)])
    assert not left.exists()


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives files away")
def test_what_another_persons_run_has_left_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = one(tmp_path, LEFT[0])
    monkeypatch.setattr(os, "geteuid", lambda: 4321)
    sweep([str(tmp_path)])
    assert left.exists()


KILLED: Final = """
import os, signal, sys
from pathlib import Path
from tclint.source import write

def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)

setattr(write, sys.argv[2], die)
os.link = die if sys.argv[2] == "link" else os.link
path = Path(sys.argv[1])
write.write_all([write.NewText(path, "x = 2\\n", "utf-8")])
"""


@posix
@pytest.mark.parametrize("moment", ["_take_over", "_carry_out", "link"])
def test_a_run_that_is_killed_leaves_a_whole_file_and_nothing_for_long(
    tmp_path: Path, moment: str
) -> None:
    path = one(tmp_path)
    done = subprocess.run([sys.executable, "-c", KILLED, str(path), moment], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text(encoding="utf-8") == "x = 1\n"
    assert len([*tmp_path.iterdir()]) > 1
    sweep([str(tmp_path)])
    assert [*tmp_path.iterdir()] == [path]


@posix
def test_a_scratch_folder_that_a_killed_run_has_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint import scratch

    old, young, other = (tmp_path / f".tclint-scratch-git-{name * 8}" for name in "abc")
    for folder in (old, young, other, tmp_path / ".tclint-scratch-git-x"):
        folder.mkdir()
    for folder in (old, other, tmp_path / ".tclint-scratch-git-x"):
        os.utime(folder, (1_600_000_000, 1_600_000_000))
    theirs = tmp_path / "tclint-notes-20261123"
    theirs.mkdir()
    os.utime(theirs, (1_600_000_000, 1_600_000_000))
    monkeypatch.setattr(scratch, "gettempdir", lambda: str(tmp_path))
    with scratch.locked(other), scratch.scratch("git"):
        assert not old.exists()
        assert young.exists()
        assert other.exists()
        assert theirs.exists()
        assert (tmp_path / ".tclint-scratch-git-x").exists()


@pytest.mark.parametrize("name", ["a.py", "b.pyi", "c.ipynb", "pyproject.toml", "d.PY"])
def test_a_report_does_not_take_the_place_of_source(tmp_path: Path, name: str) -> None:
    one(tmp_path, text=BREAKS)
    one(tmp_path, name, BREAKS if name == "a.py" else "")
    before = (tmp_path / name).read_bytes()
    done = tclint("check", "a.py", "--isolated", "--output-file", name, cwd=tmp_path)
    assert done.returncode == 2
    assert f"--output-file {name}: it is not a report" in done.stderr
    assert (tmp_path / name).read_bytes() == before


@posix
def test_a_report_does_not_take_the_place_of_what_is_checked(tmp_path: Path) -> None:
    one(tmp_path, "script", BREAKS)
    (tmp_path / "report.txt").symlink_to("script")
    done = tclint("check", "script", "--output-file", "report.txt", cwd=tmp_path)
    assert done.returncode == 2
    assert (tmp_path / "script").read_text(encoding="utf-8") == BREAKS


@posix
def test_a_report_can_go_where_no_file_is(tmp_path: Path) -> None:
    one(tmp_path, text=BREAKS)
    done = tclint("check", "a.py", "--output-file", "/dev/stdout", cwd=tmp_path)
    assert "TCL101" in done.stdout
    if Path("/dev/full").exists():
        done = tclint("check", "a.py", "--output-file", "/dev/full", cwd=tmp_path)
        assert done.returncode == 2
        assert "cannot write /dev/full: no space left on device" in done.stderr


PLANTED: Final[dict[str, Callable[[Path], None]]] = {
    "a pipe": lambda path: os.mkfifo(path, 0o600),
    "an endless device": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a folder": lambda path: path.mkdir(),
    "a terabyte": lambda path: (path.touch(), os.truncate(path, 2**40))[0],
}
NAMES: Final = (
    ".gitignore", "tclint.toml", "pyproject.toml", "ruff.toml", "setup.cfg", "requirements.txt",
    "uv.lock", "setup.py", "environment.yml", ".git", "__init__.py", ".tclint_cache", "model.py",
    ".venv",
)  # fmt: skip


@posix
@pytest.mark.parametrize("plant", PLANTED.values(), ids=PLANTED)
def test_nothing_hangs_on_what_a_folder_holds_in_the_place_of_a_file(
    tmp_path: Path, plant: Callable[[Path], None]
) -> None:
    for name in NAMES:
        folder = tmp_path / name.strip(".")
        folder.mkdir()
        one(folder, text=PRINTS)
        plant(folder / name)
    for command in (("check",), ("fix", "--diff")):
        done = tclint(*command, *(name.strip(".") for name in NAMES), cwd=tmp_path)
        assert "Traceback" not in done.stderr
        assert "an error in tclint" not in done.stderr
        assert "a.py" in done.stdout or "is over the limit" in done.stderr


@posix
def test_a_baseline_that_is_no_file_is_one_error(tmp_path: Path) -> None:
    one(tmp_path, text=BREAKS)
    os.mkfifo(tmp_path / "known.json")
    done = tclint("check", "a.py", "--baseline", "known.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "known.json: cannot read: it is not a regular file" in done.stderr


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_keeps_its_files(tmp_path: Path) -> None:
    path = one(tmp_path)
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        with pytest.raises(SourceError, match="permission denied"):
            write_all([new(path)])
    finally:
        tmp_path.chmod(stat.S_IRWXU)
    assert path.read_text(encoding="utf-8") == "x = 1\n"


def test_many_runs_at_once_fix_each_file_once(tmp_path: Path) -> None:
    paths = [one(tmp_path, f"{number}.py") for number in range(4)]
    failures: list[str] = []

    def work() -> None:
        for path in paths:
            try:
                write_all([NewText(path, "x = 2\n", "utf-8", before="x = 1\n")])
            except SourceError as error:
                failures.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {path.read_text(encoding="utf-8") for path in paths} == {"x = 2\n"}
    assert sorted(tmp_path.iterdir()) == paths
    assert not failures


def test_old_leavings_go_where_no_lock_tells_that_nobody_uses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint.source import write

    left = one(tmp_path, LEFT[0])
    write._sweep(tmp_path, is_ours=False)
    assert left.exists()
    later = time.time() + 3_700
    monkeypatch.setattr(time, "time", lambda: later)
    write._sweep(tmp_path, is_ours=False)
    assert not left.exists()


def test_a_baseline_that_has_no_room_is_not_there_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tclint.lint.baseline import Baseline, BaselineError, write_baseline

    def full(path: Path, data: bytes) -> int:
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(BaselineError, match="no space left"):
        write_baseline(Baseline(tmp_path / "known.json"))
    assert not [*tmp_path.iterdir()]


def test_where_nothing_temporary_can_be_written_changes_are_one_error(tmp_path: Path) -> None:
    one(tmp_path, text=BREAKS)
    commit_all(tmp_path)
    program = (
        "import tempfile, sys; tempfile.tempdir = '/nowhere'; "
        "from tclint.cli import main; "
        "sys.argv = ['tclint', 'check', '.', '--diff-only=HEAD']; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no space for temporary files" in done.stderr
    assert "Traceback" not in done.stderr
    assert "an error in tclint" not in done.stderr
