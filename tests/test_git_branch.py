"""Branches that are made beside the working tree."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tclint.git.branch import NewCommit, head_of, make_branch, require_committed, require_free
from tclint.git.run import GitError


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "config", "user.name", "a")
    git(tmp_path, "config", "user.email", "a@example.org")
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/ö b.py").write_bytes(b"one\r\n")
    (tmp_path / "tool.py").write_text("two\n")
    (tmp_path / "tool.py").chmod(0o755)
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "start")
    return tmp_path


def test_commits_are_made_and_nothing_else_changes(project: Path) -> None:
    odd, tool = project / "pkg/ö b.py", project / "tool.py"
    (project / "other.py").write_text("staged\n")
    git(project, "add", "other.py")
    base, status = head_of(project), git(project, "status", "--porcelain")
    require_committed(project, [odd, tool])
    require_free(project, "fixes")
    first = NewCommit("First: `x`\n\n- a\n", {odd: b"one\r\nmore\r\n"})
    made = make_branch(project, "fixes", [first, NewCommit("Second", {tool: b"three\n"})])
    assert git(project, "rev-parse", "fixes", "fixes~1", "fixes~2").split() == [*made[::-1], base]
    assert git(project, "log", "-1", "--format=%B", "fixes~1").strip() == "First: `x`\n\n- a"
    shown = subprocess.run(
        ["git", "show", "fixes:pkg/ö b.py"], cwd=project, capture_output=True, check=True
    )
    assert shown.stdout == b"one\r\nmore\r\n"
    assert git(project, "ls-tree", "fixes", "tool.py").startswith("100755 ")
    assert "other.py" not in git(project, "ls-tree", "-r", "--name-only", "fixes")
    assert (head_of(project), git(project, "status", "--porcelain")) == (base, status)
    assert odd.read_bytes() == b"one\r\n"


def test_what_cannot_be_made_is_told_and_leaves_nothing(project: Path) -> None:
    git(project, "branch", "taken")
    with pytest.raises(GitError, match="there is a branch 'taken' already"):
        require_free(project, "taken")
    with pytest.raises(GitError, match=r"'a\.\.b' is not a valid name for a branch"):
        require_free(project, "a..b")
    with pytest.raises(GitError, match="taken"):
        make_branch(project, "taken", [NewCommit("x", {project / "tool.py": b"3"})])
    assert git(project, "rev-parse", "taken").strip() == head_of(project)


def test_files_have_to_be_as_they_were_committed(project: Path, tmp_path: Path) -> None:
    (project / "tool.py").write_text("edited\n")
    with pytest.raises(GitError, match=r"tool.py differs from what was committed"):
        require_committed(project, [project / "tool.py"])
    (project / "new.py").write_text("new\n")
    with pytest.raises(GitError, match=r"new.py differs from what was committed"):
        require_committed(project, [project / "new.py"])
    with pytest.raises(GitError, match="is not in the repository"):
        require_committed(project, [Path(__file__)])


def test_hooks_and_filters_of_the_repository_do_not_run(project: Path) -> None:
    ran = project / "ran"
    hook = project / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    hook.chmod(0o755)
    git(project, "config", "filter.evil.clean", f"touch '{ran}'; cat")
    git(project, "config", "filter.evil.smudge", f"touch '{ran}'; cat")
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/attributes").write_text("*.py filter=evil\n")
    require_committed(project, [project / "tool.py"])
    make_branch(project, "fixes", [NewCommit("x", {project / "tool.py": b"3"})])
    assert not ran.exists()


def test_who_commits_is_asked_before_anything_else(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(project, "config", "--unset", "user.email")
    git(project, "config", "user.useConfigOnly", "true")
    monkeypatch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    with pytest.raises(GitError, match=r"does not know who commits: set user.name"):
        require_free(project, "fixes")
