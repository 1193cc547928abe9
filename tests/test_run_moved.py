"""Files of a recording that was made elsewhere are found by the end of their path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tclint.run import moved


@pytest.mark.parametrize(
    "name", ["/home/you/net/model.py", "C:\\work\\net\\model.py", "net/model.py", "/net/model.py"]
)
def test_the_longest_end_that_is_here_is_the_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "net").mkdir()
    for path in (tmp_path / "model.py", tmp_path / "net" / "model.py"):
        path.touch()
    assert moved._below(tmp_path, name) == tmp_path / "net" / "model.py"


def test_what_is_not_here_and_what_leads_out_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "model.py").touch()
    assert moved._below(tmp_path, "/home/you/other.py") is None
    assert moved._below(tmp_path / "net", "../model.py") is None


def test_a_name_that_no_system_opens_is_looked_for_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(moved, "is_file", asked.append)
    assert moved._below(tmp_path, "/x" * 50_000) is None
    assert asked == []
