"""Which lines have changed since a commit, as Git sees the working tree."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.errors import UserError
from tclint.records import record
from tclint.review.diff import Added, added_lines
from tclint.source.notebook import SUFFIX, json_rows

if TYPE_CHECKING:
    from tclint.lint.engine import Result

_DIFF: Final = (
    "diff", "--text", "--unified=0", "--inter-hunk-context=0", "--no-color", "--no-ext-diff",
    "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


class ChangesError(UserError):
    """Git could not tell what has changed; the message is for people."""


@record(frozen=True)
class Changes:
    """Changed lines by real path; new files have changed as a whole."""

    lines: Mapping[str, tuple[Added, ...]]
    new: frozenset[str]

    def touch(self, result: Result) -> bool:
        """Whether a finding lies on a changed line."""
        path = os.path.realpath(result.diagnostic.path)
        if path in self.new:
            return True
        runs = self.lines.get(path, ())
        first, last = _rows(result)
        return any(run.first <= last and first <= run.last for run in runs)


class History:
    """What the working trees change since a revision: of every file its own repository's.

    A run may look at several: a repository has submodules, and may be beside the current folder.
    """

    def __init__(self, revision: str, files: Iterable[Path]) -> None:
        """``files`` are those of the run.

        Raises:
            ChangesError: the first of them is in no repository, or it has no such revision.
        """
        self._revision = revision
        self._changes: dict[str, Changes] = {}
        self._repositories: dict[str, str] = {}
        # Whatever is found, a revision that does not exist is a mistake.
        self._of(next(iter(files), Path("-")))

    def touches(self, result: Result) -> bool:
        """Whether a finding lies on a line that has changed.

        Raises:
            ChangesError: its file is in no repository, or that has no such revision.
        """
        return self._of(result.diagnostic.path).touch(result)

    def _of(self, path: Path) -> Changes:
        repository = self._repository(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120
        if repository not in self._changes:
            self._changes[repository] = changes_since(self._revision, Path(repository))
        return self._changes[repository]

    def _repository(self, folder: str) -> str:
        """The nearest folder upwards that is a repository's; the outermost where there is none."""
        if "GIT_DIR" in os.environ:
            return os.getcwd()  # noqa: PTH109 (somebody has said which repository it is)
        if folder not in self._repositories:
            above = os.path.dirname(folder)  # noqa: PTH120
            is_top = os.path.exists(f"{folder}/.git") or above == folder  # noqa: PTH110
            self._repositories[folder] = folder if is_top else self._repository(above)
        return self._repositories[folder]


def changes_since(revision: str, folder: Path) -> Changes:
    """What the working tree changes, staged or not, since it left ``revision``.

    Raises:
        ChangesError: there is no repository, or no such revision.
    """
    if revision.startswith("-") or not revision:
        raise ChangesError(f"{revision!r} is no revision")
    top = os.path.realpath(_git(folder, "rev-parse", "--show-toplevel").decode().rstrip("\n"))
    changed = added_lines(_git(folder, *_DIFF, _base(revision, folder), "--"))
    others = _git(Path(top), "ls-files", "--others", "--exclude-standard", "-z")
    return Changes(
        {os.path.join(top, path): runs for path, runs in changed.items()},  # noqa: PTH118
        frozenset(os.path.join(top, os.fsdecode(path)) for path in others.split(b"\0")),  # noqa: PTH118
    )


def _base(revision: str, folder: Path) -> str:
    """The commit at which the work left a revision; the empty tree where nothing is committed."""
    try:
        _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    except ChangesError as error:
        if revision == "HEAD":
            return _git(folder, "hash-object", "-t", "tree", "--stdin").decode().strip()
        message = f"no revision {revision!r} in {folder}; in a shallow clone, fetch more history"
        raise ChangesError(message) from error
    try:
        return _git(folder, "merge-base", revision, "HEAD").decode().strip()
    except ChangesError as error:
        raise ChangesError(
            f"no commit in common with {revision!r}; in a shallow clone, fetch more history"
        ) from error


def _rows(result: Result) -> tuple[int, int]:
    """The lines of a finding as Git counts them: only a newline ends its lines."""
    file, span = result.file, result.diagnostic.span
    if file.path.suffix == SUFFIX:
        rows = json_rows(file.path.read_bytes())
        return rows.get(span.start.row, 0), rows.get(span.end.row, 0)
    starts = (file.offset(place) for place in (span.start, span.end))
    first, last = (file.text.count("\n", 0, start) + 1 for start in starts)
    return first, last


def _git(folder: Path, *arguments: str) -> bytes:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    environment.pop("GIT_INDEX_FILE", None)  # a commit's hooks have that of one repository
    try:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=true", *arguments],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise ChangesError(f"cannot run git in {folder}: {error.strerror}") from error
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
        raise ChangesError(message or f"git {arguments[0]} failed")
    return done.stdout
