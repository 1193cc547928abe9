"""What the review asks Git: plumbing only, no shell, no filters, no hooks, nothing written."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_REGULAR_FILES: Final = (b"100644", b"100755")
_DIFF: Final = (
    "diff-tree",
    "-r",
    "-p",
    "--find-renames",
    "--unified=0",
    "--inter-hunk-context=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-relative",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


class GitError(Exception):
    """Git could not answer; the message is for people."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A regular file of a commit; ``path`` is relative to the repository's root."""

    path: str
    object_id: str


@dataclass(frozen=True, slots=True)
class Git:
    """One repository, given by any folder in its working tree."""

    folder: Path

    def commit(self, revision: str) -> str:
        """The commit that a revision names.

        Raises:
            GitError: there is no such commit, or no repository.
        """
        if revision.startswith("-") or not revision:
            raise GitError(f"{revision!r} is no revision")
        self._run("rev-parse", "--git-dir")
        try:
            name = self._run(
                "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}"
            )
        except GitError as error:
            raise GitError(f"no such commit: {revision!r}") from error
        return name.decode("ascii").strip()

    def merge_base(self, base: str, head: str) -> str:
        """The commit at which ``head`` left ``base``.

        Raises:
            GitError: they have no common ancestor here.
        """
        try:
            return self._run("merge-base", base, head).decode("ascii").strip()
        except GitError as error:
            raise GitError(
                f"{base[:12]} and {head[:12]} have no common ancestor; in a shallow clone, fetch "
                "more history"
            ) from error

    def diff(self, old: str, new: str) -> bytes:
        """The unified diff between two commits, without context, with renames followed."""
        return self._run(*_DIFF, old, new, "--")

    def files(self, commit: str) -> tuple[Blob, ...]:
        """The regular files of a commit: no links, no submodules."""
        listing = self._run("ls-tree", "-r", "-z", "--full-tree", commit, "--")
        blobs: list[Blob] = []
        for entry in listing.split(b"\0")[:-1]:
            attributes, _, path = entry.partition(b"\t")
            mode, _, object_id = attributes.split(b" ", 2)
            if mode in _REGULAR_FILES:
                blobs.append(Blob(decode_path(path), object_id.decode("ascii")))
        return tuple(blobs)

    def contents(self, blobs: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """The bytes of files as they were committed: no line ends converted, no filter run."""
        wanted = "".join(f"{blob.object_id}\n" for blob in blobs)
        output = memoryview(self._run("cat-file", "--batch", stdin=wanted.encode("ascii")))
        start = 0
        for blob in blobs:
            head = bytes(output[start : start + 256]).partition(b"\n")[0]
            parts = head.split(b" ")
            if len(parts) != 3:
                raise GitError(f"object {blob.object_id} of {blob.path} is missing")
            start += len(head) + 1
            end = start + int(parts[2])
            yield blob, bytes(output[start:end])
            start = end + 1

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        command = ("git", "-c", "core.quotePath=true", *arguments)
        try:
            done = subprocess.run(
                command,
                cwd=self.folder,
                env=_environment(),
                input=stdin,
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise GitError(f"cannot run git in {self.folder}: {error.strerror}") from error
        if done.returncode != 0:
            message = done.stderr.decode("utf-8", "replace").strip()
            raise GitError(message or f"git {arguments[0]} failed")
        return done.stdout


def decode_path(path: bytes) -> str:
    """A path of the repository; bytes that are not UTF-8 survive as surrogates."""
    return path.decode("utf-8", "surrogateescape")


def _environment() -> dict[str, str]:
    """The environment without what a hook sets, which would point Git at another repository."""
    kept = {k: v for k, v in os.environ.items() if k not in _OF_A_HOOK}
    return {**kept, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


_OF_A_HOOK: Final = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_PREFIX",
        "GIT_OBJECT_DIRECTORY",
        "GIT_EXTERNAL_DIFF",
        "GIT_DIFF_OPTS",
    }
)
