"""The findings that a range of commits is answerable for: those on lines that it adds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config
from tclint.config_nested import nested_configs
from tclint.git.diff import Added, added_lines
from tclint.lint.engine import in_one
from tclint.records import record
from tclint.report.fingerprint import fingerprints
from tclint.report.view import View, chain_text
from tclint.review.git import Blob, Git
from tclint.review.tree import lay_out, problems
from tclint.scratch import scratch
from tclint.source.discovery import discover

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run

Check = Callable[[Sequence[Path], Config], "Run"]


@record(frozen=True)
class Change:
    """A range of commits: ``fork`` is where ``head`` left ``base``; ``trusted`` configures."""

    base: str
    head: str
    fork: str
    trusted: str


@record(frozen=True)
class Introduced:
    """A finding on an added line: ``line`` is Git's number of it, ``added`` the run around it."""

    result: Result
    path: str
    line: int
    added: Added
    fingerprint: str
    chain: str


@record(frozen=True)
class Unreadable:
    """A changed file that could not be checked."""

    path: str
    message: str


@record(frozen=True)
class Outcome:
    """What there is to say of a range of commits; ``folder`` is where its files lay.

    ``problems`` are files that do not tell which torch the project is for, though they should.
    """

    base: str
    head: str
    introduced: tuple[Introduced, ...]
    unreadable: tuple[Unreadable, ...]
    folder: Path
    problems: tuple[str, ...] = ()


def change_of(git: Git, base: str, head: str, *, own_config: bool = False) -> Change:
    """The range that two revisions mean; ``own_config`` trusts ``head`` to configure its review.

    Raises:
        GitError: a revision is unknown, or the history between the two is not there.
    """
    base, head = git.commit(base), git.commit(head)
    return Change(base, head, git.merge_base(base, head), head if own_config else base)


def review_range(git: Git, change: Change, check: Check) -> Outcome:
    """Check the head as a whole and keep what lies on lines that the range adds.

    Works on a copy of the files: neither the working tree nor the repository is touched.

    Raises:
        GitError: a commit cannot be read, or is larger than the limits allow.
        ConfigError: the configuration is faulty.
    """
    with scratch("review") as place:
        # The real path: the engine may resolve links, and findings are matched by path.
        folder = Path(os.path.realpath(place))
        layout = lay_out(git, change.trusted, change.head, folder)
        diff = added_lines(git.diff(change.fork, change.head))
        # Lines of a notebook are JSON: what is said about one would stand nowhere.
        files = [p for p in discover([folder], layout.config).files if p.suffix != ".ipynb"]
        nesting = nested_configs(files, folder, layout.config, layout.nested)
        parts = nesting.parts(nesting.wanted(files))
        run = in_one([check(part, config) for config, part in parts])
        wrong = problems(layout, folder)
    view = View(base=folder)
    unreadable = (*_unreadable(run, diff, view), *_too_large(git, change, layout.left_out))
    introduced = _introduced(run, diff, view)
    return Outcome(change.base, change.head, introduced, unreadable, folder, wrong)


def _introduced(
    run: Run, diff: Mapping[str, tuple[Added, ...]], view: View
) -> tuple[Introduced, ...]:
    found: list[Introduced] = []
    for result, fingerprint in zip(run.results, fingerprints(run, view), strict=True):
        path = view.posix(result.diagnostic.path)
        file = result.file
        line = line_of(file.text, file.offset(result.diagnostic.span.start))
        for added in diff.get(path, ()):
            if added.holds(line, line):
                chain = _chain(result, view)
                found.append(Introduced(result, path, line, added, fingerprint, chain))
    return tuple(found)


def _chain(result: Result, view: View) -> str:
    """The way to the line; empty where the line's own function is the whole way."""
    way = chain_text(result.diagnostic, view)
    return way if " → " in way else ""


def _unreadable(
    run: Run, diff: Mapping[str, tuple[Added, ...]], view: View
) -> Iterator[Unreadable]:
    places = ((view.posix(error.path), error.message) for error in run.errors)
    return (Unreadable(path, message) for path, message in places if path in diff)


def _too_large(git: Git, change: Change, left_out: Sequence[Blob]) -> Iterator[Unreadable]:
    """The files left out that the range changes: Git shows no lines of these."""
    before = {(blob.path, blob.object_id) for blob in git.files(change.fork)} if left_out else ()
    for blob in left_out:
        if (blob.path, blob.object_id) not in before:
            limit = f"more than {git.limits.file_bytes:,}"
            yield Unreadable(blob.path, f"too large: {blob.size:,} bytes, {limit}")


def line_of(text: str, offset: int) -> int:
    """The number that Git gives to the line at an offset: only a newline ends its lines."""
    return text.count("\n", 0, offset) + 1
