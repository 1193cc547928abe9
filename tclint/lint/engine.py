"""Check files: analyse them together, ask the rules, keep what is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.config import Config
from tclint.config_places import CODE
from tclint.diagnostics import Diagnostic
from tclint.files import version_of
from tclint.lint.codes import SYNTAX_ERROR
from tclint.lint.examined import examined
from tclint.lint.execution import (
    ALONE,
    IN_PROCESS,
    Around,
    Execution,
    Program,
    Store,
    WorkerError,
    in_one_place,
)
from tclint.lint.looked import NOTHING, Looked, together
from tclint.lint.merge import merged
from tclint.lint.outcome import Found, Outcome
from tclint.lint.repair import PlacedRepair
from tclint.lint.selection import applicability_of, is_shown, leaving_out, placing
from tclint.lint.shards import Shard, shards
from tclint.records import record
from tclint.source.errors import FileError
from tclint.source.file import SourceFile
from tclint.source.stored import StoredFile

if TYPE_CHECKING:
    from tclint.semantics.project import Project


@record(frozen=True)
class Result:
    """A diagnostic with what a fix of it would do, and the text and the place it was found in."""

    diagnostic: Diagnostic
    repair: PlacedRepair | None
    file: SourceFile
    place: str = CODE


@record(frozen=True)
class Run:
    """What checking some files came to; ``results`` are in the order of files and places.

    ``hidden`` counts the weak findings that are not shown, ``left_out`` those that ``leave-out``
    takes out. ``read`` are the files whose content mattered, ``around`` the project besides the
    checked files, ``looked`` what was looked at.
    """

    results: tuple[Result, ...]
    errors: tuple[FileError, ...]
    files: int
    hidden: int = 0
    read: frozenset[str] = frozenset()
    left_out: int = 0
    around: Around = ALONE
    looked: Looked = NOTHING

    @property
    def unread(self) -> tuple[FileError, ...]:
        """The errors that no finding tells, as one tells that a file is no Python."""
        found = [result.diagnostic for result in self.results] if self.errors else ()
        told = {(one.path, key) for one in found for key in (one.span, one.message)}
        return tuple(
            error
            for error in self.errors
            if not {(error.path, error.span), (error.path, error.message)} & told
        )


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
        sum(run.left_out for run in runs),
        in_one_place(run.around for run in runs),
        together(run.looked for run in runs),
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
    program = program_of(paths, config, overlay, execution.cache)
    parts = [*shards(paths)]
    files: dict[str, SourceFile] = {}
    if execution.cache is not None:
        outcomes = execution.cache.outcomes(program, parts, execution)
    else:
        outcomes, files = examined(program, parts, execution)
    return assembled(program, [*zip(parts, outcomes, strict=True)], files)


def program_of(
    paths: Sequence[Path],
    config: Config,
    overlay: Mapping[Path, str] | None = None,
    cache: Store | None = None,
) -> Program:
    """The files of a run, with the project around them where single ones were named."""
    overlay = overlay or {}
    if not (config.partial and paths):
        return Program(paths, config, overlay)
    from tclint.lint.around import around, imports_now

    imports_of = imports_now if cache is None else cache.imports
    return Program(paths, config, overlay, around(paths, config, overlay, imports_of))


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

    program = program_of(paths, config, overlay)
    return project_of(program, Reader(program.overlay))


class _Assembly:
    """Makes results of findings; all findings of a file share the file."""

    def __init__(
        self,
        program: Program,
        parts: Sequence[tuple[Shard, Outcome]],
        files: dict[str, SourceFile],
    ) -> None:
        self._config, self._parts, self._program = program.config, parts, program
        self._overlay = {str(path): text for path, text in program.overlay.items()}
        self._files = files
        self._placing = placing(self._config)

    def run(self) -> Run:
        findings = merged(self._parts)
        sure = [found for found in findings if is_shown(found.diagnostic, self._config)]
        left_out = leaving_out(self._config)
        shown = sorted((one for one in sure if not left_out(one.diagnostic.path)), key=_place)
        return Run(
            tuple(map(self._result, shown)),
            tuple(error for _, outcome in self._parts for error in outcome.errors),
            len(self._program.paths),
            len(findings) - len(sure),
            frozenset(name for _, outcome in self._parts for name in outcome.read),
            len(sure) - len(shown),
            self._program.around,
            together(outcome.looked for _, outcome in self._parts),
        )

    def _result(self, found: Found) -> Result:
        diagnostic = found.diagnostic
        fixable = applicability_of(diagnostic.code, diagnostic.fixable, self._config)
        if fixable is not diagnostic.fixable:
            diagnostic = replace(diagnostic, fixable=fixable)
        file, place = self._file(diagnostic.path), self._placing(diagnostic.path)
        return Result(diagnostic, found.repair, file, place)

    def _file(self, path: Path) -> SourceFile:
        name = str(path)
        if name not in self._files:
            text = self._overlay.get(name)
            if text is None:
                excerpts = [o.excerpts[name] for _, o in self._parts if name in o.excerpts]
                self._files[name] = StoredFile(path, version_of(name), excerpts)
            else:
                self._files[name] = SourceFile.from_text(path, text)
        return self._files[name]


def _place(found: Found) -> tuple[str, int, int, int, int, str]:
    """What findings are ordered by: file, place, code."""
    diagnostic = found.diagnostic
    start, end = diagnostic.span.start, diagnostic.span.end
    path, code = str(diagnostic.path), diagnostic.code
    return path, start.row, start.column, end.row, end.column, code


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
