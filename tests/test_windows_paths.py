r"""Paths as Windows has them: drives, backslashes, and no way from one drive to another."""

from __future__ import annotations

import ntpath
import os
from pathlib import Path, PurePath, PureWindowsPath
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tclint.config import Config
from tclint.lint.selection import file_ignores
from tclint.report import sarif, view
from tclint.report.view import View
from tclint.source import ignores
from tclint.source.ignores import Ignores
from tclint.source.patterns import compile_patterns
from tests.report_samples import item, view_of

BASE = PureWindowsPath(r"C:\my work")
FILES = {
    r"C:\my work\pkg\a.py": (r"pkg\a.py", "pkg/a.py"),
    r"C:\my work too\a.py": (r"C:\my work too\a.py", "C:/my work too/a.py"),
    r"D:\other\a.py": (r"D:\other\a.py", "D:/other/a.py"),
    r"pkg\a.py": (r"pkg\a.py", "pkg/a.py"),
}
URIS = {
    r"C:\my work\pkg\a.py": {"uri": "pkg/a.py", "uriBaseId": "%SRCROOT%"},
    r"D:\an other\a.py": {"uri": "file:///D:/an%20other/a.py"},
    r"pkg\a.py": {"uri": "pkg/a.py", "uriBaseId": "%SRCROOT%"},
}


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> View:
    """Let the reports count with Windows' paths."""
    monkeypatch.setattr(view, "os", SimpleNamespace(path=ntpath, pardir=os.pardir))
    for module in (view, sarif):
        monkeypatch.setattr(module, "Path", PureWindowsPath, raising=False)
    return View(cast("Path", BASE))


@pytest.mark.parametrize(("path", "shown"), FILES.items())
def test_people_see_backslashes_and_machines_slashes(
    windows: View, path: str, shown: tuple[str, str]
) -> None:
    file: Any = PureWindowsPath(path)
    assert (windows.path(file), windows.posix(file)) == shown


@pytest.mark.parametrize(("path", "artifact"), URIS.items())
def test_sarif_has_uris(windows: View, path: str, artifact: dict[str, str]) -> None:
    file: Any = PureWindowsPath(path)
    assert sarif._artifact(file, windows) == artifact


def test_a_relative_name_with_a_colon_is_no_drive() -> None:
    result = item(Path("a:b"))
    artifact = sarif._artifact(result.diagnostic.path, view_of(Path("/somewhere")))
    assert artifact["uri"] == "a%3Ab/model.py"


def test_ignore_files_see_slashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignores, "os", SimpleNamespace(sep="\\"))
    known = Ignores(((r"C:\repository", compile_patterns(["made/*.py"])),))
    assert known.match(r"C:\repository\made\a.py", "a.py", folder=False)
    assert not known.match(r"C:\repository\kept\a.py", "a.py", folder=False)


def test_a_file_on_another_drive_can_be_ignored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: PurePath, start: PurePath) -> str:
        raise ValueError(f"path is on mount {path!r}, start on mount {start!r}")

    monkeypatch.setattr("tclint.lint.selection.os.path.relpath", refuse)
    ignored = file_ignores(Config(tmp_path, per_file_ignores=(("made", ("TCL1",)),)))
    assert ignored(Path("/other/made/a.py"), "TCL101")
    assert not ignored(Path("/other/kept/a.py"), "TCL101")
