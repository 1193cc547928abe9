"""Writing files back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.write import NewText, write_all, write_text


@pytest.mark.parametrize(
    "data",
    [
        b"x = 1\r\ny = 2\rz = 3\n\x0cw = 4",
        b"\xef\xbb\xbfx = 1\n",
        b"# coding: latin-1\nx = '\xe9'\r\n",
        b"# coding: cp1252\nx = '\x80'\n",
        b"",
    ],
)
def test_bytes_survive_a_round_trip(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    file = read_source(path)
    write_text(path, file.text, file.encoding)
    assert path.read_bytes() == data


def test_mode_stays(tmp_path: Path) -> None:
    path = tmp_path / "tool.py"
    path.write_text("x = 1\n")
    path.chmod(0o754)
    write_text(path, "x = 2\n", "utf-8")
    assert path.read_text() == "x = 2\n"
    assert path.stat().st_mode & 0o7777 == 0o754


def test_link_stays_and_its_target_changes(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a.py"
    target.write_text("x = 1\n")
    link = tmp_path / "link.py"
    link.symlink_to(Path("real") / "a.py")
    write_text(link, "x = 2\n", "utf-8")
    assert link.is_symlink()
    assert target.read_text() == "x = 2\n"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync" if step == "fsync" else "replace", fail)
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(SourceError, match="cannot write: no space left on device"):
        write_text(path, "x = 2\n", "utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]
    assert path.read_text() == "x = 1\n"


def test_interrupt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_text(path, "x = 2\n", "utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]


def test_character_that_the_encoding_lacks_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: latin-1\n")
    with pytest.raises(SourceError, match="does not exist in iso-8859-1"):
        write_text(path, "x = '\u2192'\n", "iso-8859-1")
    assert path.read_bytes() == b"# coding: latin-1\n"


def test_encoding_with_two_spellings_of_a_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: utf-7\nx = '+AGE-'\n")
    file = read_source(path)
    with pytest.raises(SourceError, match="would not keep the untouched bytes"):
        write_text(path, file.text, file.encoding)


def test_read_only_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    path.chmod(0o444)
    if os.access(path, os.W_OK):  # root writes everything
        monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(SourceError, match="cannot write: the file is read-only"):
        write_text(path, "x = 2\n", "utf-8")


def test_folder_that_takes_no_new_file_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    with pytest.raises(SourceError, match="cannot write: permission denied"):
        write_text(path, "x = 2\n", "utf-8")


def test_missing_file_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="cannot write"):
        write_text(tmp_path / "a.py", "x = 1\n", "utf-8")
    assert not list(tmp_path.iterdir())


def _two(folder: Path) -> list[NewText]:
    """New texts for two files that are there."""
    texts = []
    for name in ("a.py", "b.py"):
        (folder / name).write_text("x = 1\n")
        texts.append(NewText(folder / name, "x = 2\n", "utf-8", before="x = 1\n"))
    return texts


def _contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


OLD = {"a.py": "x = 1\n", "b.py": "x = 1\n"}
NEW = {"a.py": "x = 2\n", "b.py": "x = 2\n"}


def test_all_files_are_written(tmp_path: Path) -> None:
    write_all(_two(tmp_path))
    assert _contents(tmp_path) == NEW


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("links", [True, False])
def test_failure_at_the_last_file_puts_the_first_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, links: bool
) -> None:
    texts, replace, done = _two(tmp_path), Path.replace, []

    def fail_late(self: Path, target: Path) -> Path:
        done.append(target)
        if len(done) == 2:
            raise error
        return replace(self, target)

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(Path, "replace", fail_late)
    if not links:
        monkeypatch.setattr(os, "link", refuse)
    with pytest.raises((SourceError, KeyboardInterrupt)):
        write_all(texts)
    assert len(done) == 3  # the third put the first file back
    assert _contents(tmp_path) == OLD


def test_full_disk_changes_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, sync, calls = _two(tmp_path), os.fsync, []

    def full(descriptor: int) -> None:
        calls.append(descriptor)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SourceError, match=r"b\.py: cannot write: no space left on device"):
        write_all(texts)
    assert _contents(tmp_path) == OLD


def test_file_that_changed_meanwhile_keeps_all_from_being_written(tmp_path: Path) -> None:
    texts = _two(tmp_path)
    (tmp_path / "b.py").write_text("x = 3\n")
    with pytest.raises(SourceError, match=r"b\.py: not written: the file has changed"):
        write_all(texts)
    assert _contents(tmp_path) == {"a.py": "x = 1\n", "b.py": "x = 3\n"}


def test_file_that_another_run_fixed_alike_is_fine(tmp_path: Path) -> None:
    texts = _two(tmp_path)
    (tmp_path / "b.py").write_text("x = 2\n")
    write_all(texts)
    assert _contents(tmp_path) == NEW


def test_of_two_runs_at_once_one_writes_and_one_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    failures: list[str] = []
    start = threading.Barrier(2)

    def run(text: str) -> None:
        start.wait()
        try:
            write_all([NewText(path, text, "utf-8", before="x = 1\n")])
        except SourceError as error:
            failures.append(str(error))

    runs = [threading.Thread(target=run, args=(f"x = {n}\n",)) for n in (2, 3)]
    for one in runs:
        one.start()
    for one in runs:
        one.join()
    assert len(failures) == 1
    assert "has changed" in failures[0]
    assert _contents(tmp_path)["a.py"] in {"x = 2\n", "x = 3\n"}
    assert len(_contents(tmp_path)) == 1


_WRITER = """
import sys
from pathlib import Path
from tclint.source.write import NewText, write_all

paths = sorted(Path(sys.argv[1]).glob("*.py"))
print("ready", flush=True)
number = 0
while True:
    number += 1
    write_all([NewText(path, f"{number}\\n", "utf-8") for path in paths])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_signal_at_any_moment_finds_all_files_written_or_none(
    tmp_path: Path, how: signal.Signals
) -> None:
    for number in range(30):
        (tmp_path / f"{number}.py").write_text("0\n")
    for attempt in range(6):
        command = [sys.executable, "-c", _WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.05 + attempt * 0.013)
            writer.send_signal(how)
            writer.communicate(timeout=60)
        files = [path for path in tmp_path.iterdir() if path.suffix == ".py"]
        assert len(files) == 30
        assert len({path.read_text() for path in files}) == 1
        if how is signal.SIGINT:  # a plain kill may leave a new text that was being prepared
            assert len([*tmp_path.iterdir()]) == 30
