"""Which lines have changed since a commit: of the working tree's files, as they lie there.

Git is not asked to look at them: it would hand them to filters that the repository's settings
name, and count lines in what comes back. It compares what they hold with what was committed, in a
repository of ours. A line whose end alone has changed has not changed.
"""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.errors import UserError
from tclint.files import exists, read_bytes
from tclint.git.diff import Added, added_lines
from tclint.git.run import Call, GitError, ask, borrowing, in_repository, quoted
from tclint.records import record
from tclint.source.errors import reason
from tclint.source.ignores import Ignores
from tclint.source.notebook import SUFFIX, json_rows

if TYPE_CHECKING:
    from tclint.lint.engine import Result

_DIFF: Final = (
    "diff-index", "--cached", "-r", "-p", "--text", "--unified=0", "--inter-hunk-context=0",
    "--find-renames", "-l400", "--ignore-cr-at-eol", "--no-color", "--no-ext-diff",
    "--no-textconv", "--no-relative", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip
_LINK: Final = b"120000"
_SKIPPED: Final = b"S"
_FETCH: Final = "in a shallow clone, fetch more history"


class ChangesError(UserError):
    """Git could not tell what has changed; the message is for people."""


def require_revision(revision: str, files: Iterable[Path]) -> None:
    """Make sure that a revision exists where the first file of a repository is, or nothing is.

    Raises:
        ChangesError: all files are in no repository, or that has no such revision.
    """
    calls = map(_call, files)
    found = next((call for call in calls if _is_repository(call)), None)
    _Repository(found or _call(Path("-")), revision).require_base()


def changed(results: Sequence[Result], revision: str) -> tuple[Result, ...]:
    """The findings on lines that the working trees have changed since they left a revision.

    A run may look at several repositories: one has submodules, and may be beside the current
    folder. What is in none, as what a link leads to, is new.

    Raises:
        ChangesError: a file's repository has no such revision.
    """
    repositories: dict[str, _Repository] = {}

    def repository(path: Path) -> _Repository:
        call = _call(path)
        return repositories.setdefault(str(call.folder), _Repository(call, revision))

    wanted: dict[str, set[str]] = {}
    for result in results:
        path = result.diagnostic.path
        wanted.setdefault(str(repository(path).call.folder), set()).add(os.path.realpath(path))
    changes = {name: repositories[name].changes(paths) for name, paths in wanted.items()}
    return tuple(
        result
        for result in results
        if changes[str(repository(result.diagnostic.path).call.folder)].touch(result)
    )


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


def _call(path: Path) -> Call:
    """How to ask the repository that a file is in, or that somebody has named."""
    folder = Path(os.path.realpath(path)).parent
    named = {name: os.environ[name] for name in ("GIT_DIR", "GIT_WORK_TREE") if name in os.environ}
    if "GIT_DIR" not in named:
        call = in_repository(folder)
        # Its settings may name another place.
        return in_repository(folder, {"GIT_WORK_TREE": str(call.folder)})
    here = Call(Path.cwd(), in_repository(folder, named).environment)
    top = os.fsdecode(_ask(here, "rev-parse", "--show-toplevel")[:-1])
    return Call(Path(os.path.realpath(top)), here.environment)


def _is_repository(call: Call) -> bool:
    return "GIT_DIR" in call.environment or exists(call.folder / ".git")


class _Repository:
    """What one repository knows of the files of a run; ``call`` is at the top of its tree."""

    def __init__(self, call: Call, revision: str) -> None:
        self.call, self._revision = call, revision
        self._base: str | None = None

    def require_base(self) -> str:
        """The commit at which the work left the revision; the empty tree before the first one."""
        if self._base is None:
            self._base = self._found_base()
        return self._base

    def _found_base(self) -> str:
        revision = self._revision
        if revision.startswith("-") or not revision:
            raise ChangesError(f"{revision!r} is not a revision")
        _ask(self.call, "rev-parse", "--git-dir")
        try:
            _ask(self.call, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
        except ChangesError as error:
            if revision == "HEAD":
                return ""
            message = f"no revision {revision!r} in {self.call.folder}; {_FETCH}"
            raise ChangesError(message) from error
        try:
            return _ask(self.call, "merge-base", revision, "HEAD").decode("ascii").strip()
        except ChangesError as error:
            raise ChangesError(f"no commit in common with {revision!r}; {_FETCH}") from error

    def changes(self, paths: Iterable[str]) -> Changes:
        """What has changed in these files since the base."""
        if not _is_repository(self.call):
            return Changes({}, frozenset(paths))
        top, base = self.call.folder, self.require_base()
        names = {_name(path, top): path for path in sorted(paths)}
        try:
            with borrowing(self.call) as ours:
                base = base or ask(ours, "hash-object", "-wt", "tree", "--stdin").decode().strip()
                return _Comparison(self.call, ours, base, names).changes()
        except GitError as error:
            raise ChangesError(str(error)) from error
        except OSError as error:
            raise ChangesError(f"cannot tell what has changed: {reason(error)}") from error


class _Comparison:
    """A working tree beside a commit; ``names`` are the paths to tell of, as Git writes them."""

    def __init__(self, call: Call, ours: Call, base: str, names: Mapping[bytes, str]) -> None:
        self._call, self._ours, self._base = call, ours, base
        self._before = dict(_entries(ask(ours, "ls-tree", "-r", "-z", "--full-tree", base)))
        self._tracked = dict(_tags(ask(call, "ls-files", "-z", "-t", "--cached")))
        self._names = {self._as_committed(name): path for name, path in names.items()}

    def changes(self) -> Changes:
        known = {name for name in self._names if self._is_file(name)}
        added = {name for name in self._names if name not in known and name in self._tracked}
        new = [
            path
            for name, path in self._names.items()
            if name not in known and name not in added and not self._is_ignored(path)
        ]
        gone = {name for name in self._before if self._is_gone(name)} if added else set()
        if gone:
            added |= self._others(added)
        else:
            new += [self._names[name] for name in added]
            added = set()
        lines = added_lines(self._diff({*known, *added}, gone))
        top = self._call.folder
        places = {os.fsdecode(name): path for name, path in self._names.items()}
        return Changes(
            {places.get(name, str(top / name)): runs for name, runs in lines.items()},
            frozenset(new),
        )

    def _as_committed(self, name: bytes) -> bytes:
        """The name of a file in the repository, where the system knows it by several."""
        if name in self._before or name in self._tracked:
            return name
        for other in {**self._before, **self._tracked}:
            if _folded(other) == _folded(name):
                with suppress(OSError):
                    if os.path.samefile(self._place(other), self._place(name)):  # noqa: PTH121
                        return other
        return name

    def _is_file(self, name: bytes) -> bool:
        mode, _ = self._before.get(name, (_LINK, b""))
        return mode != _LINK

    def _is_ignored(self, path: str) -> bool:
        top = self._call.folder
        return not Path(path).is_relative_to(top) or Ignores.ignore(Path(path), top)

    def _is_gone(self, name: bytes) -> bool:
        """Whether a file may be the old one of another; one that is not checked out is there."""
        return self._tracked.get(name) != _SKIPPED and not self._is_there(name)

    def _is_there(self, name: bytes) -> bool:
        try:
            return stat.S_ISREG(os.lstat(self._place(name)).st_mode)
        except OSError:
            return False

    def _place(self, name: bytes) -> str:
        return str(self._call.folder / os.fsdecode(name))

    def _others(self, added: Iterable[bytes]) -> set[bytes]:
        """The other new files of such names, which old ones may have become as well."""
        endings = {_ending(name) for name in added}
        return {
            name
            for name in self._tracked
            if name not in self._before and _ending(name) in endings and self._is_there(name)
        }

    def _diff(self, compared: Iterable[bytes], gone: Iterable[bytes]) -> bytes:
        """The difference between the base and itself with the files as they lie there."""
        entries = dict(self._before)
        for name in gone:
            del entries[name]
        entries.update({name: (b"100644", id_) for name, id_ in self._stored(compared)})
        listing = b"".join(
            b"%b %b\t%b\n" % (mode, id_, quoted(name)) for name, (mode, id_) in entries.items()
        )
        ask(self._ours, "update-index", "--index-info", stdin=listing)
        try:
            return ask(self._ours, *_DIFF, self._base, "--")
        except GitError as error:
            message = f"{error}; in a partial clone, `git diff` fetches what is missing"
            raise ChangesError(message) from error

    def _stored(self, names: Iterable[bytes]) -> Iterator[tuple[bytes, bytes]]:
        """Files put into our repository as they are; those that cannot be read are left out."""
        folder = self._ours.folder / "contents"
        folder.mkdir()
        copied: list[bytes] = []
        for name in sorted(names):
            try:
                content = read_bytes(self._place(name))
            except OSError:
                continue
            (folder / str(len(copied))).write_bytes(content)
            copied.append(name)
        listing = "".join(f"contents/{number}\n" for number in range(len(copied))).encode()
        said = ask(self._ours, "hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listing)
        return zip(copied, said.split(), strict=True)


def _name(path: str, top: Path) -> bytes:
    """A path as Git writes it."""
    return os.fsencode(Path(os.path.relpath(path, top)).as_posix())


def _ending(name: bytes) -> bytes:
    return name.rpartition(b"/")[2].rpartition(b".")[2]


def _folded(name: bytes) -> str:
    """What is left of a name where neither case nor the spelling of accents counts."""
    return unicodedata.normalize("NFC", os.fsdecode(name)).casefold()


def _entries(listing: bytes) -> Iterator[tuple[bytes, tuple[bytes, bytes]]]:
    for entry in listing.split(b"\0")[:-1]:
        attributes, _, name = entry.partition(b"\t")
        mode, _, object_id = attributes.split()
        yield name, (mode, object_id)


def _tags(listing: bytes) -> Iterator[tuple[bytes, bytes]]:
    for entry in listing.split(b"\0")[:-1]:
        tag, _, name = entry.partition(b" ")
        yield name, tag


def _rows(result: Result) -> tuple[int, int]:
    """The lines of a finding as Git counts them: only a newline ends its lines."""
    file, span = result.file, result.diagnostic.span
    if file.path.suffix == SUFFIX:
        rows = json_rows(read_bytes(file.path))
        return rows.get(span.start.row, 0), rows.get(span.end.row, 0)
    starts = (file.offset(place) for place in (span.start, span.end))
    first, last = (file.text.count("\n", 0, start) + 1 for start in starts)
    return first, last


def _ask(call: Call, *arguments: str) -> bytes:
    try:
        return ask(call, *arguments)
    except GitError as error:
        message, _, more = str(error).partition("\n")
        if "safe.directory" in more:
            message += f"; `git config --global --add safe.directory {call.folder}` trusts it"
        raise ChangesError(message) from error
