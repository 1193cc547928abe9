"""Join what happened to what the static side finds at the same lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.diagnostics import Diagnostic, Effect
from tclint.lint.engine import Result
from tclint.lint.registry import UnknownRuleError, rule_by_code
from tclint.lint.rule import Rule, SpentIn
from tclint.lint.selection import is_shown
from tclint.records import record
from tclint.run.cells import check_with_cells, is_cell
from tclint.run.events import Event, Kind, libraries_of
from tclint.run.recorded import Cell, Recorded
from tclint.verify.join import covers

_EFFECTS: Mapping[Kind, frozenset[Effect]] = {
    Kind.BREAK: frozenset({Effect.GRAPH_BREAK}),
    Kind.RECOMPILE: frozenset({Effect.RECOMPILE}),
    Kind.SYNC: frozenset({Effect.HOST_SYNC, Effect.GRAPH_BREAK, Effect.DEVICE_COPY}),
    Kind.EAGER: frozenset({Effect.GRAPH_BREAK, Effect.INVALID}),
    Kind.CUDAGRAPHS: frozenset(),
    Kind.HOST: frozenset(),
}
"""Which findings explain an event: a read in compiled code breaks the graph and waits as well."""


@record(frozen=True)
class Line:
    """One line of the user's: what happened there, and what the static side says of it.

    ``result`` is None where no rule knows what happened; ``events`` is empty where the finding is
    in a file that ran, and nothing was recorded at its line.
    """

    filename: str
    row: int
    events: tuple[Event, ...]
    result: Result | None = None

    @property
    def finding(self) -> Diagnostic | None:
        """The finding at this line."""
        return self.result.diagnostic if self.result else None

    @property
    def breaks(self) -> bool:
        """Whether the graph breaks here, and torch does not ask for it itself."""
        return any(one.kind is Kind.BREAK and not one.by_torch for one in self.events)

    @property
    def only_works(self) -> bool:
        """Whether all that is known of the line is that the host works there."""
        return self.finding is None and all(event.kind is Kind.HOST for event in self.events)

    @property
    def spent_in(self) -> SpentIn:
        """The part of a step that its remedy makes shorter."""
        rule = _rule_of(self.finding)
        return SpentIn.LINE if rule is None else rule.spent_in

    @property
    def holds_on_gpu_alone(self) -> bool:
        """Whether the finding says nothing where no GPU works."""
        rule = _rule_of(self.finding)
        return rule is not None and rule.on_gpu


def _rule_of(found: Diagnostic | None) -> Rule[Any] | None:
    try:
        return None if found is None else rule_by_code(found.code)
    except UnknownRuleError:
        return None


@record(frozen=True)
class Joined:
    """All lines, and the user's files that were checked."""

    lines: tuple[Line, ...]
    files: tuple[Path, ...]

    @property
    def explained(self) -> tuple[int, int]:
        """How many breaks that torch did not ask for itself a rule explains, and of how many."""
        asked = [
            (line, event)
            for line in self.lines
            for event in line.events
            if event.kind is Kind.BREAK and not event.by_torch
        ]
        return sum(line.finding is not None for line, _ in asked), len(asked)


def join(recorded: Sequence[Recorded], events: Sequence[Event], config: Config) -> Joined:
    """Check the user's files and cells that ran, and match the findings with the events."""
    files = tuple(sorted(files_that_ran(recorded, events)))
    others = sorted(_files_that_break(recorded, events) - {*files})
    cells, folder = _cells_of(recorded)
    results = check_with_cells([*files, *others], cells, folder, with_evidence(config))
    on_gpu = any(one.process.device for one in recorded)
    told = (line for line in match(events, results) if _may_be_told(line, config, on_gpu))
    here = {*map(str, files)}
    kept = (one for one in told if one.events or one.filename in here or is_cell(one.filename))
    return Joined(tuple(kept), files)


def _cells_of(recorded: Sequence[Recorded]) -> tuple[tuple[Cell, ...], Path]:
    """The cells that ran, which all processes have, and the folder that they ran in."""
    first = next((one for one in recorded if one.cells), None)
    return ((), Path()) if first is None else (first.cells, Path(first.process.folder))


def with_evidence(config: Config) -> Config:
    """How to check files that ran: what is weak elsewhere may cost here."""
    return replace(config, weak=True)


def _may_be_told(line: Line, config: Config, on_gpu: bool) -> bool:
    """Whether a finding is told of, or is if the part of a step that it is about takes long."""
    if line.holds_on_gpu_alone and not (on_gpu or line.events):
        return False
    return is_told(line, config) or line.spent_in is not SpentIn.LINE


def is_told(line: Line, config: Config) -> bool:
    """Whether something happened that speaks for a finding, or it is sure enough by itself."""
    found = line.finding
    return found is None or bool(line.events) or is_shown(found, config)


def match(events: Sequence[Event], results: Sequence[Result]) -> tuple[Line, ...]:
    """Each event at its line with the finding that explains it, then the findings that are left."""
    by_line: dict[tuple[str, int], list[Event]] = {}
    for event in events:
        by_line.setdefault((event.filename, event.row), []).append(event)
    met: set[int] = set()
    lines: list[Line] = []
    for (filename, row), here in by_line.items():
        at = [n for n, result in enumerate(results) if _explains(result.diagnostic, here)]
        met.update(at)
        lines.append(Line(filename, row, tuple(here), results[at[0]] if at else None))
    for n, result in enumerate(results):
        if n not in met:
            found = result.diagnostic
            lines.append(Line(str(found.path), found.span.start.row, (), result))
    return tuple(lines)


def files_that_ran(recorded: Sequence[Recorded], events: Iterable[Event]) -> set[Path]:
    """The user's own Python files that some process is known to have run."""
    found: set[Path] = set()
    for one in recorded:
        libraries = libraries_of(one.process)
        found |= {Path(name) for name in _named(one) if not libraries.holds(name)}
    known = [libraries_of(one.process) for one in recorded]
    names = {event.filename for event in events}
    found |= {Path(name) for name in names if not any(one.holds(name) for one in known)}
    return {path.resolve() for path in found if path.suffix == ".py" and path.is_file()}


def _files_that_break(recorded: Sequence[Recorded], events: Iterable[Event]) -> set[Path]:
    """The files of libraries in which something breaks; torch's own are not asked."""
    torch = tuple({libraries_of(one.process).torch for one in recorded})
    inner = {event.stack[-1].filename for event in events if event.stack}
    paths = {Path(name).resolve() for name in inner if not name.startswith(torch)}
    return {path for path in paths if path.suffix == ".py" and path.is_file()}


def _named(one: Recorded) -> Iterator[str]:
    yield from (entry.filename for entry in one.compiled)
    for samples in one.samples:
        yield from (place.filename for stack in samples.stacks for place in stack)
    if one.watch is not None:
        yield from (place.filename for place in one.watch.places)
    for syncs in one.syncs:
        yield from (place.filename for stack in syncs.stacks for place in stack)
    if one.steps is not None:
        yield one.steps.place.filename


def _explains(found: Diagnostic, here: Sequence[Event]) -> bool:
    return any(
        found.effect in _EFFECTS[event.kind] and covers(found, _places(event)) for event in here
    )


def _places(event: Event) -> Iterator[tuple[str, int]]:
    yield event.filename, event.row
    if event.stack:
        yield event.stack[-1].filename, event.stack[-1].row
