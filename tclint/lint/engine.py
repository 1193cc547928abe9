"""Check files: analyse them together, ask the rules, keep what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config
from tclint.diagnostics import Confidence, Diagnostic, Position, Span
from tclint.lint import outcome as columns
from tclint.lint.codes import SYNTAX_ERROR
from tclint.lint.examined import examined
from tclint.lint.execution import IN_PROCESS, Execution, Program, WorkerError
from tclint.lint.merge import diagnostic_of, merged
from tclint.lint.outcome import Outcome, Row, place_of
from tclint.lint.rewrite import Repair
from tclint.lint.selection import applicability_of, is_shown
from tclint.lint.shards import Shard, shards
from tclint.lint.stored import StoredFile, StoredRepair, version_of
from tclint.records import record
from tclint.source.errors import FileError
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from tclint.semantics.project import Project


@record(frozen=True)
class Result:
    """A diagnostic with what a fix of it would do, and the text that it was found in."""

    diagnostic: Diagnostic
    repair: Repair | None
    file: SourceFile


@record(frozen=True)
class Run:
    """What checking some files came to; ``results`` are in the order of files and places.

    ``hidden`` counts the findings that the configuration's ``min-confidence`` leaves out. ``read``
    are the files whose content mattered.
    """

    results: tuple[Result, ...]
    errors: tuple[FileError, ...]
    files: int
    hidden: int = 0
    read: frozenset[str] = frozenset()


def in_one(runs: Sequence[Run]) -> Run:
    """Several runs over different files as one."""
    if len(runs) == 1:
        return runs[0]
    results = (result for run in runs for result in run.results)
    return Run(
        tuple(sorted(results, key=lambda result: result.diagnostic.path.parts)),
        tuple(error for run in runs for error in run.errors),
        sum(run.files for run in runs),
        sum(run.hidden for run in runs),
        frozenset().union(*(run.read for run in runs)),
    )


def check_files(
    paths: Sequence[Path],
    config: Config,
    overlay: Mapping[Path, str] | None = None,
    execution: Execution = IN_PROCESS,
) -> Run:
    """Check files as one program.

    ``overlay`` holds text to use in the place of what is on disk: editor buffers, standard input.
    Files that cannot be read or parsed are reported in ``errors`` and the others go on; one that
    does not parse is a finding as well.

    Raises:
        ConfigError: the configured environment holds no packages.
        WorkerError: a worker process died.
    """
    program: Program = (paths, config, overlay or {})
    parts = [*shards(paths)]
    files: dict[str, SourceFile] = {}
    if execution.cache is not None:
        outcomes = execution.cache.outcomes(program, parts, execution)
    else:
        outcomes, files = examined(program, parts, execution)
    return assembled(program, [*zip(parts, outcomes, strict=True)], files)


def assembled(
    program: Program, parts: Sequence[tuple[Shard, Outcome]], files: dict[str, SourceFile]
) -> Run:
    """The outcomes of shards as one run; ``files`` are those that are in memory already."""
    return _Assembly(program, parts, files).run()


def load_project(
    paths: Sequence[Path], config: Config, overlay: Mapping[Path, str] | None = None
) -> Project:
    """The files as one program, without those that cannot be read or parsed.

    Raises:
        ConfigError: the configured environment holds no packages.
    """
    from tclint.lint.reading import Reader, project_of

    return project_of(paths, config, overlay or {}, Reader(overlay or {}))


class _Assembly:
    """Makes results of rows; all findings of a file share the file."""

    def __init__(
        self,
        program: Program,
        parts: Sequence[tuple[Shard, Outcome]],
        files: dict[str, SourceFile],
    ) -> None:
        paths, self._config, overlay = program
        self._parts = parts
        self._paths = {str(path): path for path in paths}
        self._overlay = {str(path): text for path, text in overlay.items()}
        self._files = files

    def run(self) -> Run:
        rows = merged(self._parts)
        shown = sorted(filter(self._is_shown, rows), key=place_of)
        errors = (self._error(row) for _, outcome in self._parts for row in outcome.errors)
        return Run(
            tuple(map(self._result, shown)),
            tuple(errors),
            len(self._paths),
            len(rows) - len(shown),
            frozenset(name for _, outcome in self._parts for name in outcome.read),
        )

    def _is_shown(self, row: Row) -> bool:
        confidence = Confidence(row[columns.CONFIDENCE])
        return is_shown(row[columns.CODE], confidence, self._config)

    def _result(self, row: Row) -> Result:
        file = self._file(row[columns.PATH])
        repair = StoredRepair(row[columns.REPAIR], file) if row[columns.REPAIR] else None
        diagnostic = diagnostic_of(row, self._paths)
        fixable = applicability_of(diagnostic.code, diagnostic.fixable, self._config)
        if fixable is not diagnostic.fixable:
            diagnostic = replace(diagnostic, fixable=fixable)
        return Result(diagnostic, repair, file)

    def _file(self, name: str) -> SourceFile:
        if name not in self._files:
            path, text = self._paths[name], self._overlay.get(name)
            if text is None:
                excerpts = [o.excerpts[name] for _, o in self._parts if name in o.excerpts]
                self._files[name] = StoredFile(path, version_of(name), excerpts)
            else:
                self._files[name] = SourceFile.from_text(path, text)
        return self._files[name]

    def _error(self, row: Row) -> FileError:
        path, message, corners = row
        span = None
        if corners:
            first, start, last, end = corners
            span = Span(Position(first, start), Position(last, end))
        return FileError(self._paths[path], message, span)


__all__ = [
    "SYNTAX_ERROR",
    "Execution",
    "FileError",
    "Result",
    "Run",
    "WorkerError",
    "check_files",
    "load_project",
]
