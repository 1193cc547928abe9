"""Make a branch of new texts without touching the working tree, its index, or what is checked out.

Files, trees and commits are written as objects, which nobody sees until the branch names the last
of them. It is named at the end, in one step, and only if there is no such branch.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from tclint.files import read_bytes
from tclint.git.run import Call, GitError, ask, in_repository
from tclint.records import record
from tclint.scratch import scratch


@record(frozen=True)
class NewCommit:
    """A commit to make: its message, and the files that it changes with what they hold then."""

    message: str
    files: Mapping[Path, bytes]


def head_of(folder: Path) -> str:
    """The commit that is checked out.

    Raises:
        GitError: there is none.
    """
    said = ask(in_repository(folder), "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    return said.decode("ascii").strip()


def require_committed(folder: Path, files: Sequence[Path]) -> None:
    """Files that a branch is to change have to be as they are in HEAD.

    Raises:
        GitError: one is not.
    """
    here = in_repository(folder)
    for file in files:
        mode, name = _entry(here, file)
        now = ask(here, "hash-object", "--no-filters", "--stdin", stdin=read_bytes(file))
        if not mode.startswith("100") or now.decode("ascii").strip() != name:
            raise GitError(f"{file} differs from what was committed: commit it, or restore it")


def require_free(folder: Path, branch: str) -> None:
    """A branch of that name can be made.

    Raises:
        GitError: there is one, or it is no name for a branch, or Git does not know who commits.
    """
    here = in_repository(folder)
    try:
        ask(here, "check-ref-format", "--branch", branch)
    except GitError as error:
        raise GitError(f"{branch!r} is not a valid name for a branch") from error
    if ask(here, "for-each-ref", "--format=%(refname)", f"refs/heads/{branch}"):
        raise GitError(f"there is a branch {branch!r} already: name another one")
    try:
        ask(here, "var", "GIT_COMMITTER_IDENT")
    except GitError as error:
        raise GitError("Git does not know who commits: set user.name and user.email") from error


def make_branch(folder: Path, branch: str, commits: Sequence[NewCommit]) -> tuple[str, ...]:
    """Make a branch with these commits on top of HEAD; returns their names.

    Raises:
        GitError: Git does not know who commits, or there is such a branch.
    """
    parent = head_of(folder)
    made = []
    with scratch("index") as desk:
        here = in_repository(folder, {"GIT_INDEX_FILE": str(desk / "index")})
        ask(here, "read-tree", parent)
        for commit in commits:
            for file, content in commit.files.items():
                _stage(here, file, content)
            tree = _one(ask(here, "write-tree"))
            message = commit.message.encode()
            parent = _one(ask(here, "commit-tree", tree, "-p", parent, stdin=message))
            made.append(parent)
        ask(here, "update-ref", f"refs/heads/{branch}", parent, "0" * len(parent))
    return tuple(made)


def _stage(here: Call, file: Path, content: bytes) -> None:
    mode, _ = _entry(here, file)
    name = _one(ask(here, "hash-object", "--no-filters", "-w", "--stdin", stdin=content))
    entry = f"{mode} {name}\t{_inside(here, file)}\0".encode("utf-8", "surrogateescape")
    ask(here, "update-index", "-z", "--index-info", stdin=entry)


def _entry(here: Call, file: Path) -> tuple[str, str]:
    """The mode of a file in HEAD, and the name of what it holds; empty where it is not there."""
    said = ask(here, "ls-tree", "-z", "--full-tree", "HEAD", "--", _inside(here, file))
    mode, _, name = said.partition(b"\t")[0].decode("ascii").split() or ("", "", "")
    return mode, name


def _inside(here: Call, file: Path) -> str:
    real = Path(os.path.realpath(file))
    if here.folder not in real.parents:
        raise GitError(f"{file} is not in the repository {here.folder}")
    return real.relative_to(here.folder).as_posix()


def _one(said: bytes) -> str:
    return said.decode("ascii").strip()
