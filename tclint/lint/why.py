"""Why a line is reported, or is not: where it is, what is known there, what each rule said."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tclint.config import Config
from tclint.diagnostics import Diagnostic, Span
from tclint.lint.asking import asked
from tclint.lint.examine import found_by
from tclint.lint.questions import Questions
from tclint.lint.reading import Reader, project_of
from tclint.lint.registry import known_rules, load_rules
from tclint.lint.rule import Rule
from tclint.lint.scripts import outside_script
from tclint.lint.selection import is_selected, is_shown
from tclint.lint.shards import Shard, shards
from tclint.lint.silence import Silencer
from tclint.lint.versions import in_range
from tclint.records import record
from tclint.semantics.events import ArrayRead, Event, HostRead, SideEffectCall, TensorBranch
from tclint.semantics.explain import Explained, explained
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.interpreter.scripted import Scripted
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
class Verdict:
    """What a rule said of a place: ``silent`` is the reason why it is not reported, if it is not.

    ``message`` is what it found, where it found something. It does not judge what it tells from
    the kind of the event alone to be none of its business.
    """

    code: str
    name: str
    span: Span
    message: str = ""
    silent: str = ""
    judges: bool = True


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
    project = project_of(paths, config, overlay, reader)
    if project.module_at(file) is None:
        return None
    parts = sorted(shards(paths), key=lambda shard: file not in shard)
    answers: list[Answer] = []
    for shard in parts:
        answers.append(_Question(project.another(), shard, config).answer(file, row, column))
        if answers[-1].where.is_reached:
            return answers[-1]
        reader.forget()
    first = answers[0]
    where = joined([answer.where for answer in answers])
    return Answer(where, first.expressions, first.verdicts)


class _Question:
    """One analysis that remembers how it came where it came."""

    def __init__(self, project: Project, shard: Shard, config: Config) -> None:
        self.project = project
        self.shard = shard
        self.config = config
        self.rules = load_rules()
        self.trace = Trace()

    def answer(self, file: Path, row: int, column: int) -> Answer:
        """What this analysis knows of a line."""
        questions = Questions(self.rules)
        analysis = interpret(self.project, self.shard, self.config, questions.events, self.trace)
        module = self.project.module_at(file)
        assert module is not None
        events = analysis.finish()
        where = whereabouts(analysis, self.trace, module, self.config, row)
        verdicts = [*self._verdicts(analysis, module, row_of(module.tree, row), events, questions)]
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

    def _verdicts(
        self,
        analysis: Analysis,
        module: ModuleInfo,
        row: Row,
        events: Sequence[Event],
        questions: Questions,
    ) -> Iterator[Verdict]:
        """What all rules say of the events in a line, those that are not selected as well."""
        scripted = Scripted(analysis, [module])
        silencer = Silencer(self.config, [rule.code for rule in known_rules()])
        for event in events:
            if event.site.module is not module:
                continue
            for rule in questions.about(event):
                verdict = _verdict(rule, event, scripted, silencer, self.config)
                if verdict is not None and _is_at(row, verdict.span):
                    yield verdict


def _is_at(row: Row, span: Span) -> bool:
    """Whether a place is in the line, or goes on in it; a block is where its header is."""
    return span.start.row in row.rows and span.start.row <= row.row <= span.end.row


def _verdict(
    rule: Rule[Any], event: Event, scripted: Scripted, silencer: Silencer, config: Config
) -> Verdict | None:
    finding, question = asked(rule, event)
    file = event.site.module.file
    if finding is None:
        span = file.span(event.node)
        return Verdict(rule.code, rule.name, span, silent=question, judges=bool(question))
    ranged = in_range(finding, event.site.settings)
    found = found_by(rule, event, outside_script(finding, event, scripted)).diagnostic
    silent = "it does not hold for the torch versions that the project is for"
    if ranged is not None:
        silent = _silenced(found, event, silencer, config)
    return Verdict(rule.code, rule.name, found.span, found.message, silent)


def _silenced(found: Diagnostic, event: Event, silencer: Silencer, config: Config) -> str:
    """What keeps a finding from being shown."""
    if not is_selected(found.code, config):
        return "`select` and `ignore` leave the rule out"
    by = silencer.silencer(found, event.site.module.file, event.site.statement)
    if by:
        return f"{by} silences it"
    if not is_shown(found.code, found.confidence, config):
        return (
            f"its confidence is {found.confidence.value}, and"
            f" `min-confidence` is {config.min_confidence}"
        )
    return ""
