"""git takes the diffs that fixing prints."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tclint.fix.diff import unified_diff
from tclint.fix.results import FixedFile

if TYPE_CHECKING:
    from pathlib import Path

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@needs_git
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("a\nb\nc\n", "a\nB\nc\n", id="plain"),
        pytest.param("a\nb", "a\nB", id="no line end before and after"),
        pytest.param("a\nb", "a\nb\n", id="line end added"),
        pytest.param("a\nb\n", "a\nb", id="line end removed"),
        pytest.param("a\r\nb\r\n", "a\r\nB\r\n", id="carriage returns"),
        pytest.param("a\rb\rc", "a\rB\rc", id="lone carriage returns"),
        pytest.param("a\x0cb\u2028c\n", "a\x0cB\u2028c\n", id="other separators"),
        pytest.param(
            "\n".join(map(str, range(50))),
            "0\n" * 3 + "\n".join(map(str, range(49))),
            id="several places",
        ),
        pytest.param("", "a\n", id="empty before"),
    ],
)
@pytest.mark.parametrize("name", ["m.py", "a folder/m.py", 'ö "x".py'])
def test_git_applies_the_diff(tmp_path: Path, name: str, before: str, after: str) -> None:
    target = tmp_path / name
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(before.encode())
    patch = tmp_path / "fix.patch"
    file = FixedFile(target, before, after, "utf-8")
    patch.write_bytes(unified_diff(file, name).encode())
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    subprocess.run(
        ["git", "-c", "core.autocrlf=false", "apply", patch.name], cwd=tmp_path, check=True
    )
    assert target.read_bytes() == after.encode()


def test_unchanged_file_has_no_diff(tmp_path: Path) -> None:
    assert unified_diff(FixedFile(tmp_path, "a\n", "a\n", "utf-8"), "a") == ""


def test_absolute_paths_are_named_as_git_names_them(tmp_path: Path) -> None:
    diff = unified_diff(FixedFile(tmp_path, "a\n", "b\n", "utf-8"), "/away/m.py")
    assert diff.startswith("--- a/away/m.py\n+++ b/away/m.py\n")
