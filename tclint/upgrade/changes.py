"""What changes for files from one release of torch to another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path

from tclint.config import Config
from tclint.diagnostics import Diagnostic, Effect
from tclint.lint.engine import Run, check_files
from tclint.lint.execution import Execution
from tclint.records import record
from tclint.source.decode import read_source
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile
from tclint.torch_bounds import Version, shown
from tclint.upgrade.names import names_gone
from tclint.upgrade.workarounds import Workaround, polyfills_gone, without

_HINDERS = frozenset({Effect.GRAPH_BREAK, Effect.RECOMPILE, Effect.INVALID})


class Kind(str, Enum):
    """What becomes of a line; the worst first."""

    BREAKS = "breaks"
    GONE = "gone"
    SOLVED = "solved"
    REMOVABLE = "removable"


@record(frozen=True)
class Change:
    """One line that changes; ``code`` is the rule that says so, if one does."""

    kind: Kind
    path: Path
    row: int
    column: int
    message: str
    code: str | None = None


@record(frozen=True)
class Step:
    """The releases to compare."""

    old: Version
    new: Version


@record(frozen=True)
class Upgrade:
    """What changes, by kind and place, and the files that could not be read."""

    step: Step
    changes: tuple[Change, ...]
    errors: tuple[FileError, ...]
    files: int


def upgrade(
    parts: Sequence[tuple[Config, tuple[Path, ...]]], step: Step, execution: Execution
) -> Upgrade:
    """Check each part for both releases, as it stands and without its workarounds."""
    changes: list[Change] = []
    errors: list[FileError] = []
    for config, files in parts:
        comparison = _Comparison(config, files, step, execution)
        changes += comparison.changes()
        errors += comparison.before.errors
    order = [*Kind]
    changes.sort(key=lambda c: (order.index(c.kind), c.path.parts, c.row, c.column, c.message))
    number = sum(len(files) for _, files in parts)
    return Upgrade(step, tuple(dict.fromkeys(changes)), tuple(errors), number)


class _Comparison:
    """One program for two releases."""

    def __init__(
        self, config: Config, files: tuple[Path, ...], step: Step, execution: Execution
    ) -> None:
        self.config, self.files, self.step, self.execution = config, files, step, execution
        self.before, self.after = self._check(step.old), self._check(step.new)

    def changes(self) -> Iterator[Change]:
        old, new = _by_place(self.before), _by_place(self.after)
        yield from (_change(Kind.BREAKS, new[place]) for place in new.keys() - old.keys())
        yield from (_change(Kind.SOLVED, old[place]) for place in old.keys() - new.keys())
        sources = [file for file in map(_source, self.files) if file is not None]
        for file in sources:
            for place, message in names_gone(file, self.step.old, self.step.new):
                yield Change(Kind.GONE, file.path, place.row, place.column, message)
            for place, message in polyfills_gone(file, self.step.old, self.step.new):
                yield Change(Kind.REMOVABLE, file.path, place.row, place.column, message)
        yield from self._removable(sources)

    def _removable(self, sources: Sequence[SourceFile]) -> Iterator[Change]:
        """Workarounds without which the old release has a finding there, and the new one none."""
        bare: dict[Path, str] = {}
        workarounds: list[Workaround] = []
        for file in sources:
            text, found = without(file)
            if found:
                bare[file.path] = text
                workarounds += found
        if not workarounds:
            return
        old, new = self._check(self.step.old, bare), self._check(self.step.new, bare)
        for one in workarounds:
            hidden = [found for found in _hindering(old) if one.covers(found)]
            if hidden and not any(one.covers(found) for found in _hindering(new)):
                what = ", ".join(sorted({found.code for found in hidden}))
                message = (
                    f"{one.what} works around {what}, which torch {shown(self.step.new)} lacks"
                )
                yield Change(Kind.REMOVABLE, one.path, one.row, one.column, message)

    def _check(self, version: Version, texts: Mapping[Path, str] | None = None) -> Run:
        settings = replace(self.config.settings, target_torch=version, min_torch=version)
        config = replace(self.config, settings=settings)
        return check_files(self.files, config, dict(texts or {}), self.execution)


def _by_place(run: Run) -> dict[tuple[object, ...], Diagnostic]:
    found = (result.diagnostic for result in run.results)
    return {(one.path, one.span, one.code): one for one in found}


def _change(kind: Kind, found: Diagnostic) -> Change:
    start = found.span.start
    return Change(kind, found.path, start.row, start.column, found.message, found.code)


def _hindering(run: Run) -> list[Diagnostic]:
    found = (result.diagnostic for result in run.results)
    return [one for one in found if one.effect in _HINDERS]


def _source(path: Path) -> SourceFile | None:
    """A file's text; None for notebooks, and what cannot be read, which the check tells of."""
    if path.suffix != ".py":
        return None
    try:
        return read_source(path)
    except SourceError:
        return None
