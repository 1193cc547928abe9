"""Why a line is reported, or is not: where it is, what is known there, what each rule said."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tclint.config import Config
from tclint.diagnostics import Span
from tclint.lint.engine import program_of
from tclint.lint.execution import Program
from tclint.lint.questions import Questions
from tclint.lint.reading import Reader, project_of
from tclint.lint.registry import load_rules
from tclint.lint.shards import Shard, shards
from tclint.lint.verdicts import Judging, Verdict
from tclint.records import record
from tclint.semantics.events import ArrayRead, HostRead, SideEffectCall, TensorBranch
from tclint.semantics.explain import Explained, explained
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.project import Project
from tclint.semantics.rows import Row, row_of
from tclint.semantics.symbols import ModuleInfo
from tclint.semantics.trace import Trace
from tclint.semantics.whereabouts import Whereabouts, joined, whereabouts

_TOLD: Final = (ArrayRead, HostRead, SideEffectCall, TensorBranch)
_AROUND: Final[dict[type[ast.stmt], str]] = {
    ast.Raise: "it is only run for an exception",
    ast.Assert: "rules judge the `assert` as a whole",
}
_OTHERWISE: Final = "rules judge the call around it"


@record(frozen=True)
class Quiet:
    """An expression that no rule is asked about, and why."""

    span: Span
    text: str
    reason: str


@record(frozen=True)
class Answer:
    """Everything about a line."""

    where: Whereabouts
    expressions: tuple[Explained, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    quiet: tuple[Quiet, ...] = ()


def why(
    paths: Sequence[Path],
    config: Config,
    overlay: Mapping[Path, str],
    file: Path,
    row: int,
    column: int = 0,
) -> Answer | None:
    """Look at a line as a check of some files does; None if its file cannot be read as Python.

    Raises:
        ConfigError: the configured environment holds no packages.
    """
    reader = Reader(overlay)
    program = program_of(paths, config, overlay)
    project = project_of(program, reader)
    if project.module_at(file) is None:
        return None
    parts = sorted(shards(paths), key=lambda shard: file not in shard)
    answers: list[Answer] = []
    for shard in parts:
        question = _Question(project.another(), program, shard)
        answers.append(question.answer(file, row, column))
        if answers[-1].where.is_reached:
            return answers[-1]
        reader.forget()
    first = answers[0]
    where = joined([answer.where for answer in answers])
    return replace(first, where=where)


class _Question:
    """One analysis that remembers how it came where it came."""

    def __init__(self, project: Project, program: Program, shard: Shard) -> None:
        self.project = project
        self.program = program
        self.shard = shard
        self.config = program.config
        self.trace = Trace()

    def answer(self, file: Path, row: int, column: int) -> Answer:
        """What this analysis knows of a line."""
        events = Questions(load_rules()).events
        walked, only = self.program.walked(self.shard), self.program.only
        analysis = interpret(self.project, walked, self.config, events, self.trace, only)
        module = self.project.module_at(file)
        assert module is not None
        where = whereabouts(analysis, self.trace, module, self.config, row, frozenset(self.shard))
        judging = Judging(analysis, module, self.config, frozenset(self.program.paths))
        here = row_of(module.tree, row)
        verdicts = [one for one in judging.verdicts() if _is_at(here, one.span)]
        verdicts.sort(key=lambda one: (one.span.start, one.code))
        expressions = explained(analysis, module, row, column)
        quiet = tuple(self._quiet(module, row))
        analysis.release()
        return Answer(where, tuple(expressions), tuple(verdicts), quiet)

    def _quiet(self, module: ModuleInfo, row: int) -> Iterator[Quiet]:
        """What the analysis keeps from all rules in a line."""
        told: dict[ast.expr, Quiet] = {}
        for one in self.trace.quiet:
            node = one.node if one.module is module and one.event in _TOLD else None
            if isinstance(node, ast.expr) and node.lineno == row and node not in told:
                reason = _AROUND.get(type(one.statement), _OTHERWISE)
                told[node] = Quiet(module.file.span(node), ast.unparse(node), reason)
        yield from told.values()


def _is_at(row: Row, span: Span) -> bool:
    """Whether a place is in the line, or goes on in it; a block is where its header is."""
    return span.start.row in row.rows and span.start.row <= row.row <= span.end.row
