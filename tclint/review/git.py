"""What the review asks Git: plumbing only, no shell, no filters, no hooks, nothing written."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from typing import IO, Final

from tclint.records import record
from tclint.review.limits import Limits

_REGULAR_FILES: Final = (b"100644", b"100755")
_DIFF: Final = (
    "diff-tree",
    "-r",
    "-p",
    "--find-renames",
    "-l400",
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
_CHUNK: Final = 1 << 16


class GitError(Exception):
    """Git could not answer; the message is for people."""


@record(frozen=True)
class Blob:
    """A regular file of a commit; ``path`` is relative to the repository's root."""

    path: str
    object_id: str
    size: int


@record(frozen=True)
class Git:
    """One repository, given by any folder in its working tree, or by a bare repository."""

    folder: Path
    limits: Limits = field(default_factory=Limits)

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
        """The unified diff between two commits, without context, with renames followed.

        Files that are larger than the limits have no lines in it. No attributes of the repository
        take part: a ``*.py -diff`` would hide every line.
        """
        folder = os.fsdecode(self._run("rev-parse", "--absolute-git-dir")).rstrip("\n")
        # Git would hold the whole of such a file, even if only to say that it is binary.
        left_out = sorted({path for path, _ in self._large(old) ^ self._large(new)})
        with tempfile.TemporaryDirectory(prefix="tclint-diff-") as empty:
            elsewhere = Git(Path(empty), self.limits)
            return elsewhere._run(
                *_DIFF, old, new, "--", *(f":(top,exclude,literal){path}" for path in left_out),
                extra={
                    "GIT_DIR": folder,
                    "GIT_WORK_TREE": empty,
                    "GIT_INDEX_FILE": f"{empty}/index",
                },
            )  # fmt: skip

    def files(self, commit: str) -> tuple[Blob, ...]:
        """The regular files of a commit: no links, no submodules.

        Raises:
            GitError: there are more than the limits allow.
        """
        return tuple(blob for mode, blob in self._blobs(commit) if mode in _REGULAR_FILES)

    def _large(self, commit: str) -> set[tuple[str, str]]:
        """Paths and objects of what is larger than the limits; a link can be, too."""
        return {
            (blob.path, blob.object_id)
            for _, blob in self._blobs(commit)
            if blob.size > self.limits.file_bytes
        }

    def _blobs(self, commit: str) -> Iterator[tuple[bytes, Blob]]:
        listing = self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--")
        if listing.count(b"\0") > self.limits.files:
            raise GitError(f"{commit[:12]} has more than {self.limits.files:,} files")
        for entry in listing.split(b"\0")[:-1]:
            attributes, _, path = entry.partition(b"\t")
            mode, kind, object_id, size = attributes.split()
            if kind == b"blob":
                yield mode, Blob(decode_path(path), object_id.decode("ascii"), int(size))

    def contents(self, blobs: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """The bytes of files as they were committed: no line ends converted, no filter run."""
        wanted = "".join(f"{blob.object_id}\n" for blob in blobs)
        with self._start(("cat-file", "--batch"), wanted.encode("ascii"), {}) as output:
            for blob in blobs:
                parts = output.readline().split()
                if len(parts) != 3:
                    raise GitError(f"object {blob.object_id} of {blob.path} is missing")
                content = output.read(int(parts[2]) + 1)
                yield blob, content[:-1]

    def _run(self, *arguments: str, extra: Mapping[str, str] | None = None) -> bytes:
        with self._start(arguments, b"", extra or {}) as output:
            return b"".join(_bounded(output, self.limits.listing_bytes, arguments[0]))

    @contextmanager
    def _start(
        self, arguments: Sequence[str], stdin: bytes, extra: Mapping[str, str]
    ) -> Iterator[IO[bytes]]:
        """Run Git and read its output while it runs; it ends with the ``with``.

        Raises:
            GitError: Git failed, or took longer than the limits allow.
        """
        large = f"core.bigFileThreshold={self.limits.file_bytes}"
        command = ("git", "-c", "core.quotePath=true", "-c", large, *arguments)
        with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as complaints:
            source.write(stdin)
            source.seek(0)
            process = self._process(command, {**_environment(), **extra}, source, complaints)
            late = threading.Event()
            timer = threading.Timer(self.limits.seconds, _kill, (process, late))
            timer.start()
            try:
                if process.stdout is not None:
                    yield process.stdout
                code = process.wait()
            finally:
                timer.cancel()
                process.kill()
                process.wait()
                if process.stdout is not None:
                    process.stdout.close()
            if late.is_set():
                raise GitError(
                    f"git {arguments[0]} took longer than {self.limits.seconds:g} seconds"
                )
            if code != 0:
                complaints.seek(0)
                message = complaints.read(_CHUNK).decode("utf-8", "replace").strip()
                raise GitError(message or f"git {arguments[0]} failed")

    def _process(
        self, command: Sequence[str], environment: Mapping[str, str], stdin: IO[bytes],
        stderr: IO[bytes],
    ) -> subprocess.Popen[bytes]:  # fmt: skip
        try:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                env=environment,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
            )
        except OSError as error:
            raise GitError(f"cannot run git in {self.folder}: {error.strerror}") from error


def _bounded(output: IO[bytes], limit: int, command: str) -> Iterable[bytes]:
    left = limit
    while chunk := output.read(_CHUNK):
        left -= len(chunk)
        if left < 0:
            raise GitError(f"git {command} answers with more than {limit:,} bytes")
        yield chunk


def _kill(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def decode_path(path: bytes) -> str:
    """A path of the repository; bytes that are not UTF-8 survive as surrogates."""
    return path.decode("utf-8", "surrogateescape")


def _environment() -> dict[str, str]:
    """The environment without what a hook sets, which would point Git at another repository."""
    kept = {k: v for k, v in os.environ.items() if k not in _OF_A_HOOK}
    return {
        **kept,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "LC_ALL": "C",
    }


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
