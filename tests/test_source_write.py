"""Writing files back."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tclint.source.decode import read_source
from tclint.source.errors import SourceError
from tclint.source.write import write_text


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
