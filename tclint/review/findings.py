"""The findings that a range of commits is answerable for: those on lines that it adds."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config
from tclint.report.fingerprint import fingerprints
from tclint.report.view import View, chain_text
from tclint.review.diff import Added, added_lines
from tclint.review.git import Git
from tclint.review.tree import lay_out
from tclint.source.discovery import discover

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run

Check = Callable[[Sequence[Path], Config], "Run"]


@dataclass(frozen=True, slots=True)
class Introduced:
    """A finding on an added line: ``line`` is Git's number of it, ``added`` the run around it."""

    result: Result
    path: str
    line: int
    added: Added
    fingerprint: str
    chain: str


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A changed file that could not be checked."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What there is to say of a range of commits."""

    base: str
    head: str
    introduced: tuple[Introduced, ...]
    unreadable: tuple[Unreadable, ...]


def review_range(git: Git, base: str, head: str, check: Check) -> Outcome:
    """Check ``head`` as a whole and keep what lies on lines that ``base...head`` adds.

    Works on a copy of the files: neither the working tree nor the repository is touched.

    Raises:
        GitError: a revision is unknown, or the history between the two is not there.
        ConfigError: the configuration of ``base`` is faulty.
    """
    base, head = git.commit(base), git.commit(head)
    diff = added_lines(git.diff(git.merge_base(base, head), head))
    with tempfile.TemporaryDirectory(prefix="tclint-review-") as scratch:
        # The real path: the engine may resolve links, and findings are matched by path.
        folder = Path(os.path.realpath(scratch))
        config = replace(lay_out(git, base, head, folder), respect_gitignore=False)
        run = check(discover([folder], config).files, config)
    view = View(base=folder)
    return Outcome(base, head, _introduced(run, diff, view), _unreadable(run, diff, view))


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
    return chain_text(result.diagnostic, view) if len(result.diagnostic.chain) > 1 else ""


def _unreadable(
    run: Run, diff: Mapping[str, tuple[Added, ...]], view: View
) -> tuple[Unreadable, ...]:
    places = ((view.posix(error.path), error.message) for error in run.errors)
    return tuple(Unreadable(path, message) for path, message in places if path in diff)


def line_of(text: str, offset: int) -> int:
    """The number that Git gives to the line at an offset: only a newline ends its lines."""
    return text.count("\n", 0, offset) + 1
