"""What the review asks Git: plumbing only, no shell, no filters, no hooks, nothing written.

How Git is run is said in :mod:`tclint.git.run`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from tclint.git.diff import decode_path
from tclint.git.run import Call, GitError, answering, ask, borrowing, in_repository
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
__all__ = ["Blob", "Git", "GitError"]


@record(frozen=True)
class Blob:
    """A regular file of a commit; ``path`` is relative to the repository's root."""

    path: str
    object_id: str
    size: int


@record(frozen=True)
class Git:
    """One repository, given by any folder in its working tree."""

    folder: Path
    limits: Limits = field(default_factory=Limits)

    def commit(self, revision: str) -> str:
        """The commit that a revision names.

        Raises:
            GitError: there is no such commit, or no repository.
        """
        if revision.startswith("-") or not revision:
            raise GitError(f"{revision!r} is not a revision")
        ask(self._call, "rev-parse", "--git-dir")
        try:
            name = ask(
                self._call,
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                revision + "^{commit}",
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
            return ask(self._call, "merge-base", base, head).decode("ascii").strip()
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
        # Git would hold the whole of such a file, even if only to say that it is binary.
        left_out = sorted({path for path, _ in self._large(old) ^ self._large(new)})
        with borrowing(self._call) as call:
            left_out_too = (f":(top,exclude,literal){path}" for path in left_out)
            return ask(call, *_DIFF, old, new, "--", *left_out_too)

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
        with borrowing(self._call) as call:
            listing = ask(call, "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--")
        if listing.count(b"\0") > self.limits.files:
            raise GitError(f"{commit[:12]} has more than {self.limits.files:,} files")
        for entry in listing.split(b"\0")[:-1]:
            attributes, _, path = entry.partition(b"\t")
            mode, kind, object_id, size = attributes.split()
            if kind == b"blob":
                if not size.isdigit():
                    raise GitError(f"object {object_id.decode('ascii')} is missing")
                yield mode, Blob(decode_path(path), object_id.decode("ascii"), int(size))

    def contents(self, blobs: Sequence[Blob]) -> Iterator[tuple[Blob, bytes]]:
        """The bytes of files as they were committed: no line ends converted, no filter run."""
        wanted = "".join(f"{blob.object_id}\n" for blob in blobs)
        with (
            borrowing(self._call) as call,
            answering(call, "cat-file", "--batch", stdin=wanted.encode("ascii")) as output,
        ):
            for blob in blobs:
                parts = output.readline().split()
                if len(parts) != 3:
                    raise GitError(f"object {blob.object_id} of {blob.path} is missing")
                content = output.read(int(parts[2]) + 1)
                yield blob, content[:-1]

    @property
    def _call(self) -> Call:
        large = f"core.bigFileThreshold={self.limits.file_bytes}"
        return replace(
            in_repository(self.folder),
            settings=(large,),
            seconds=self.limits.seconds,
            largest=self.limits.listing_bytes,
        )
