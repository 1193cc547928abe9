"""Check files: read and parse them, analyse them together, ask the rules, keep what is wanted."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tclint.config import Config
from tclint.diagnostics import Confidence, Decline, Diagnostic, Effect, Position, Span
from tclint.lint.confidence import confidence_of
from tclint.lint.registry import load_rules
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.lint.selection import file_ignores, is_selected, selected_rules
from tclint.semantics.collect import collect_module
from tclint.semantics.events import Event
from tclint.semantics.interpreter.run import analyse
from tclint.semantics.project import Project
from tclint.semantics.symbols import ModuleInfo
from tclint.source.decode import read_source
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile
from tclint.source.parse import parse
from tclint.source.suppress import Suppressions, statement_span, suppressions

SYNTAX_ERROR: Final = "TCL001"


@dataclass(frozen=True, slots=True)
class Result:
    """A diagnostic with what a fix of it would do, and the text that it was found in."""

    diagnostic: Diagnostic
    repair: Repair | None
    file: SourceFile


@dataclass(frozen=True, slots=True)
class Run:
    """What checking some files came to; ``results`` are in the order of files and places."""

    results: tuple[Result, ...]
    errors: tuple[FileError, ...]
    files: int


def check_files(
    paths: Sequence[Path], config: Config, overlay: Mapping[Path, str] | None = None
) -> Run:
    """Check files as one program.

    ``overlay`` holds text to use in the place of what is on disk: editor buffers, standard input.
    Files that cannot be read or parsed are reported in ``errors`` and the others go on; one that
    does not parse is a finding as well.
    """
    rules = selected_rules(load_rules(), config)
    checked = frozenset(paths)
    reader = _Reader(overlay or {})
    with _no_garbage_collection():
        project = Project(dict.fromkeys((*paths, *(overlay or {}))), reader.load)
        for path in paths:
            project.module_at(path)
        events = analyse(project, paths, config, {rule.on for rule in rules})
        judged = [*_judge(events, rules, checked)]
    broken = [r for r in reader.syntax_errors(config) if r.diagnostic.path in checked]
    kept = _Filter(config).kept([*judged, *broken])
    return Run(
        tuple(sorted(kept, key=lambda result: result.diagnostic.sort_key)),
        tuple(error for error in reader.errors if error.path in checked),
        len(paths),
    )


def load_project(paths: Sequence[Path], overlay: Mapping[Path, str] | None = None) -> Project:
    """The files as one program, without those that cannot be read or parsed."""
    return Project(dict.fromkeys((*paths, *(overlay or {}))), _Reader(overlay or {}).load)


class _Reader:
    """Loads modules for the project and remembers what went wrong."""

    def __init__(self, overlay: Mapping[Path, str]) -> None:
        self._overlay = overlay
        self.errors: list[FileError] = []
        self._broken: list[SourceFile] = []

    def load(self, name: str, path: Path) -> ModuleInfo | None:
        try:
            text = self._overlay.get(path)
            file = read_source(path) if text is None else SourceFile.from_text(path, text)
        except SourceError as error:
            self.errors.append(error.error)
            return None
        try:
            return collect_module(name, file, parse(file))
        except SourceError as error:
            self.errors.append(error.error)
            self._broken.append(file)
            return None

    def syntax_errors(self, config: Config) -> Iterator[Result]:
        """Findings for the files that are text but not Python."""
        if not is_selected(SYNTAX_ERROR, config):
            return
        files = {file.path: file for file in self._broken}
        for error in self.errors:
            if error.path in files:
                span = error.span or Span(Position(1, 1), Position(1, 1))
                yield Result(
                    Diagnostic(
                        SYNTAX_ERROR, "syntax-error", error.message, Effect.INVALID,
                        Confidence.HIGH, error.path, span,
                    ),
                    None,
                    files[error.path],
                )  # fmt: skip


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Syntax trees are large and have no cycles worth collecting while they are in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass(frozen=True, slots=True)
class _Judged:
    result: Result
    statement: ast.stmt


def _judge(
    events: Iterable[Event], rules: Sequence[Rule[Any]], checked: frozenset[Path]
) -> Iterator[_Judged]:
    by_event: dict[type[Event], list[Rule[Any]]] = defaultdict(list)
    for rule in rules:
        by_event[rule.on].append(rule)
    for event in events:
        if event.site.module.file.path not in checked:
            continue
        for rule in by_event[type(event)]:
            finding = rule.check(event)
            if finding is not None:
                yield _Judged(_result(rule, event, finding), event.site.statement)


def _result(rule: Rule[Any], event: Event, finding: Finding) -> Result:
    file = event.site.module.file
    repair = finding.fix if isinstance(finding.fix, Repair) else None
    diagnostic = Diagnostic(
        code=rule.code,
        name=rule.name,
        message=" ".join(finding.message.split()),  # quoted code may run over several lines
        effect=finding.effect or rule.effects[0],
        confidence=finding.confidence or confidence_of(event),
        path=file.path,
        span=file.span(finding.node or event.node),
        related=tuple(file.span(node) for node in finding.related),
        gb_ids=rule.gb_ids if finding.gb_ids is None else finding.gb_ids,
        chain=event.site.chain,
        fixable=repair.applicability if repair else None,
        fix_message=repair.message if repair else None,
        declined=finding.fix if isinstance(finding.fix, Decline) else None,
    )
    return Result(diagnostic, repair, file)


class _Filter:
    """Drops what comments and the configuration silence."""

    def __init__(self, config: Config) -> None:
        self._ignored = file_ignores(config)
        self._comments: dict[SourceFile, Suppressions] = {}

    def kept(self, found: Iterable[_Judged | Result]) -> Iterator[Result]:
        """The results that nothing silences."""
        for item in found:
            result = item.result if isinstance(item, _Judged) else item
            statement = item.statement if isinstance(item, _Judged) else None
            if not self._silenced(result, statement):
                yield result

    def _silenced(self, result: Result, statement: ast.stmt | None) -> bool:
        diagnostic, file = result.diagnostic, result.file
        if self._ignored(diagnostic.path, diagnostic.code):
            return True
        if file not in self._comments:
            self._comments[file] = suppressions(file)
        around = statement_span(file, statement) if statement is not None else None
        return self._comments[file].suppresses(diagnostic.code, diagnostic.span, around)


__all__ = ["FileError", "Result", "Run", "check_files", "load_project"]
