"""A baseline: findings that are known and accepted, so that a run reports only new ones.

An entry names a file, a rule, the function and the line of source, not the line's number: it holds
when lines move, and is stale when the line is changed or the finding is gone.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from tclint.errors import UserError
from tclint.files import exists, read_text
from tclint.json_text import parse_json
from tclint.records import record
from tclint.source.errors import SourceError, reason
from tclint.source.write import write_text

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run

VERSION: Final = 1
LARGEST: Final = 64 * 2**20
"""Bytes of a baseline: a quarter of a million findings."""
_WAY_OUT: Final = "remove it, and --update-baseline writes a new one"


class BaselineError(UserError):
    """A baseline that cannot be read or written: the message names the file and a way out."""


@record(frozen=True, order=True)
class Entry:
    """One accepted finding; ``path`` is relative to the baseline's folder, with slashes."""

    path: str
    code: str
    function: str
    source: str

    def __str__(self) -> str:
        return f"{self.path}: {self.code} at `{self.source}`"


@record(frozen=True)
class Baseline:
    """The accepted findings with their numbers; the same line may be there several times."""

    file: Path
    entries: Mapping[Entry, int] = field(default_factory=dict)


@record(frozen=True)
class Compared:
    """A run without its known findings, and the entries that fit no finding any more."""

    run: Run
    known: int
    stale: tuple[Entry, ...]


def read_baseline(file: Path) -> Baseline:
    """Read a baseline.

    Raises:
        BaselineError: it cannot be read, or is none.
    """
    try:
        data = parse_json(read_text(file, LARGEST))
    except FileNotFoundError as error:
        raise BaselineError(f"{file}: no such baseline; --update-baseline writes it") from error
    except OSError as error:
        raise BaselineError(f"{file}: cannot read: {reason(error)}") from error
    except ValueError as error:
        raise BaselineError(f"{file}: not a baseline: {error}; {_WAY_OUT}") from error
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise BaselineError(f"{file}: not a baseline of version {VERSION}; {_WAY_OUT}")
    try:
        return Baseline(file, dict(_read_entries(data["findings"])))
    except (KeyError, TypeError, ValueError) as error:
        raise BaselineError(f"{file}: not a baseline: an entry is damaged; {_WAY_OUT}") from error


def compare(run: Run, baseline: Baseline, checked: Iterable[Path]) -> Compared:
    """Take the known findings out of a run over ``checked`` files."""
    left = Counter(baseline.entries)
    fresh: list[Result] = []
    for result in run.results:
        entry = entry_of(result, baseline.file)
        if left[entry] > 0:
            left[entry] -= 1
        else:
            fresh.append(result)
    seen = {_relative(path, baseline.file) for path in checked}
    folder = baseline.file.absolute().parent
    stale = tuple(
        entry
        for entry, number in sorted(left.items())
        if number > 0 and (entry.path in seen or not exists(folder / entry.path))
    )
    known = len(run.results) - len(fresh)
    return Compared(replace(run, results=tuple(fresh)), known, stale)


def updated(run: Run, baseline: Baseline, checked: Iterable[Path]) -> Baseline:
    """The baseline of what a run found; entries of files that were not checked stay."""
    seen = {_relative(path, baseline.file) for path in checked}
    folder = baseline.file.absolute().parent
    kept = {
        entry: number
        for entry, number in baseline.entries.items()
        if entry.path not in seen and exists(folder / entry.path)
    }
    found = Counter(entry_of(result, baseline.file) for result in run.results)
    return Baseline(baseline.file, kept | found)


def write_baseline(baseline: Baseline) -> None:
    """Write it, one entry a line and in order, so that changes read well in reviews.

    Raises:
        BaselineError: it cannot be written.
    """
    rows = [
        json.dumps(
            {
                "path": entry.path,
                "code": entry.code,
                "function": entry.function,
                "source": entry.source,
                "count": number,
            },
            ensure_ascii=False,
        )
        for entry, number in sorted(baseline.entries.items())
    ]
    body = ",\n    ".join(rows)
    listed = f"[\n    {body}\n  ]" if rows else "[]"
    text = f'{{\n  "version": {VERSION},\n  "findings": {listed}\n}}\n'
    data = text.encode("utf-8", "backslashreplace")  # names of files may be no text
    try:
        if baseline.file.exists():
            write_text(baseline.file, data.decode(), "utf-8")  # a full disk leaves the old one
        else:
            _write_new(baseline.file, data)
    except OSError as error:
        raise BaselineError(f"{baseline.file}: cannot write: {reason(error)}") from error
    except SourceError as error:
        raise BaselineError(str(error)) from error


def _write_new(file: Path, data: bytes) -> None:
    """Write a file that was not there; one that has no room is not there afterwards either."""
    try:
        file.write_bytes(data)
    except OSError:
        file.unlink(missing_ok=True)
        raise


def entry_of(result: Result, file: Path) -> Entry:
    """What a baseline calls a finding."""
    diagnostic = result.diagnostic
    row = diagnostic.span.start.row
    line = result.file.line(row)
    function = diagnostic.chain[-1].function if diagnostic.chain else ""
    path = _relative(diagnostic.path, file)
    return Entry(path, diagnostic.code, function, " ".join(line.split()))


def _relative(path: Path, file: Path) -> str:
    absolute, folder = path.absolute(), file.absolute().parent
    try:
        return absolute.relative_to(folder).as_posix()
    except ValueError:
        return absolute.as_posix()


def _read_entries(rows: Iterable[Any]) -> Iterable[tuple[Entry, int]]:
    for row in rows:
        texts = [row[name] for name in ("path", "code", "function", "source")]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(texts)
        yield Entry(PurePosixPath(texts[0]).as_posix(), *texts[1:]), int(row["count"])
