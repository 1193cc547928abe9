"""Analyse shards, ask the rules, and drop what comments and the configuration silence."""

from __future__ import annotations

import ast
import gc
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from tclint.config import ConfigError
from tclint.diagnostics import (
    USUAL_WORTH,
    Advice,
    Confidence,
    Decline,
    Diagnostic,
    Effect,
    Position,
    Span,
    Worth,
)
from tclint.lint.codes import NOT_FOLLOWED, SYNTAX_ERROR
from tclint.lint.comments import keeping_comments
from tclint.lint.confidence import confidence_of
from tclint.lint.execution import Program
from tclint.lint.file_rules import SyntaxErrorRule
from tclint.lint.headline import headline
from tclint.lint.links import page_of
from tclint.lint.looked import NOTHING, looked_at
from tclint.lint.not_followed import not_followed, note_unresolved
from tclint.lint.outcome import Found, Outcome
from tclint.lint.questions import Questions
from tclint.lint.reading import Reader, project_of
from tclint.lint.registry import known_rules, load_rules
from tclint.lint.remedies import NOWHERE, CompiledAt, remedies
from tclint.lint.repair import placed
from tclint.lint.repeated import as_often
from tclint.lint.rewrite import Repair
from tclint.lint.rule import Finding, Rule
from tclint.lint.scripts import outside_script
from tclint.lint.searches import packed
from tclint.lint.selection import is_selected, is_shown, selected_rules
from tclint.lint.shards import Shard
from tclint.lint.silence import Silencer
from tclint.lint.third_party import Caller, ThirdParty, told_at
from tclint.lint.versions import for_oldest, in_range, of_releases
from tclint.lint.written import as_meant
from tclint.semantics.events import Event
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.memory import NESTING
from tclint.semantics.interpreter.run import interpret
from tclint.semantics.interpreter.scripted import Scripted
from tclint.semantics.project import Project
from tclint.semantics.site import FIRST_CALL, Site
from tclint.semantics.symbols import FunctionInfo
from tclint.source.file import SourceFile
from tclint.source.stored import Excerpts

Answer = tuple[Rule[Any], Finding]
Said = tuple[Event, list[Answer]]

INTERRUPTS: Final = frozenset({Effect.INVALID, Effect.GRAPH_BREAK, Effect.RECOMPILE})


class Examiner:
    """Examines the shards of one run, one after the other."""

    def __init__(self, program: Program, loaded: tuple[Reader, Project] | None = None) -> None:
        """Index the files of the run, unless what is ``loaded`` already knows them.

        Raises:
            ConfigError: no rules are installed, or the configured environment holds no packages.
        """
        self._program, self._config = program, program.config
        rules = load_rules()
        if not rules:
            # Without rules everything would pass.
            raise ConfigError(
                "no rules are installed; tclint's own come with the package tclint-torch"
            )
        self._questions = Questions(selected_rules(rules, self._config))
        self._checked = frozenset(program.paths)
        if loaded is None:
            reader = Reader(program.overlay)
            loaded = reader, project_of(program, reader)
        self._reader, self._project = loaded
        self._visited: set[FunctionInfo] = set()
        self._looked = NOTHING
        self.flagged: dict[str, SourceFile] = {}

    def examine(self, shard: Shard, *, last: bool = False) -> Outcome:
        """Analyse the files of a shard as one program, and what they import with them.

        ``flagged`` then holds the files that findings are in. After the ``last`` one the process
        ends: what refers to itself is left to the system, at once.
        """
        project, self.flagged = self._project.another(), {}
        with no_garbage_collection():
            for path in self._program.walked(shard):
                project.module_at(path)
            outcome = self._outcome(project, shard, last=last)
            if not last:
                self._reader.forget()
        return outcome

    def forget(self) -> None:
        """Let go of all files; nothing is examined any more."""
        self._reader.forget(0)

    def _outcome(self, project: Project, shard: Shard, *, last: bool) -> Outcome:
        silencer = Silencer(self._config, [rule.code for rule in known_rules()])
        kept = [*self._judge(project, shard, silencer, last=last)]
        kept += self._syntax_errors(shard, silencer)
        kept += self._leftovers(project, shard, silencer)
        errors = self._reader.errors
        return Outcome(
            kept,
            [errors[path] for path in shard if path in errors],
            [*map(str, project.asked_for)],
            packed(project.searches),
            silencing=silencer.silencing(shard),
            excerpts=_excerpts(kept, self.flagged),
            lasting=self._reader.unreadable.isdisjoint(project.asked_for),
            looked=self._looked,
        )

    def _judge(
        self, project: Project, shard: Shard, silencer: Silencer, *, last: bool
    ) -> Iterator[Found]:
        """What the rules say and nothing silences."""
        walked = self._program.walked(shard)
        wanted, only = self._questions.events, self._program.only
        analysis = interpret(project, walked, self._config, wanted, only=only)
        events = analysis.finish()
        scripted = Scripted(analysis, filter(None, map(project.module_at, walked)))
        third_party = ThirdParty(analysis.bodies(), self._checked)
        compiled_at = CompiledAt(analysis.roots)
        known: set[tuple[Path, str, Span, str]] = set()
        said = [(event, self._answers(event, analysis)) for event in events]
        for event, answers in self._without_ceded(project, said, scripted, silencer):
            file, statement = event.site.module.file, event.site.statement
            caller = None
            if file.path not in self._checked:
                caller = third_party.caller(event)
                if caller is None:
                    continue
                file, statement = caller.file, caller.statement
            for rule, finding in answers:
                told = outside_script(finding, event, scripted)
                answer = found_by(rule, event, told, project, compiled_at)
                found = answer if caller is None else _told(answer, event, caller)
                if found is None or silencer.silences(found.diagnostic, file, statement):
                    continue
                said_there = (file.path, rule.code, found.diagnostic.span, found.diagnostic.message)
                if said_there not in known:  # two events may be told at one place that both pass
                    known.add(said_there)
                    self.flagged[str(file.path)] = file
                    yield found
        note_unresolved(analysis.cuts, project, shard)
        yield from self._not_followed(analysis, project, silencer)
        self._visited = analysis.visited
        self._looked = looked_at(analysis, events, self._checked)
        if not last:
            # Frames and their analysis refer to each other, and no garbage collector runs.
            analysis.release()

    def _without_ceded(
        self, project: Project, said: Sequence[Said], scripted: Scripted, silencer: Silencer
    ) -> list[Said]:
        """What the rules say, by events, without what cedes to a finding that is shown."""

        def is_seen(rule: Rule[Any], event: Event, finding: Finding) -> bool:
            told = found_by(
                rule, event, outside_script(finding, event, scripted), project
            ).diagnostic
            file, statement = event.site.module.file, event.site.statement
            if file.path in self._checked and silencer.silences(told, file, statement):
                return False
            return is_shown(told, self._config)

        each = [(rule, event, found) for event, answers in said for rule, found in answers]
        held = standing(each, is_seen)
        return [
            (event, [a for a in answers if (a[1].cedes_to, effect_of(*a)) not in held])
            for event, answers in said
            if answers
        ]

    def _answers(self, event: Event, analysis: Analysis) -> list[Answer]:
        """What the rules say about an event."""
        asked = ((rule, _asked(rule, event, analysis)) for rule in self._questions.about(event))
        return [(rule, finding) for rule, finding in asked if finding is not None]

    def _not_followed(
        self, analysis: Analysis, project: Project, silencer: Silencer
    ) -> Iterator[Found]:
        """Findings for the places where something is not followed."""
        if not is_selected(NOT_FOLLOWED, self._config):
            return
        for diagnostic, cut in not_followed(analysis.cuts, self._checked):
            module = project.module_at(diagnostic.path)
            statement = cut.statement if module is cut.module else None
            if module and not silencer.silences(diagnostic, module.file, statement):
                self.flagged[str(diagnostic.path)] = module.file
                yield Found(diagnostic)

    def _syntax_errors(self, shard: Shard, silencer: Silencer) -> Iterator[Found]:
        """Findings for the files that are text but not Python."""
        if not is_selected(SYNTAX_ERROR, self._config):
            return
        for path in shard:
            file = self._reader.broken.get(path)
            if file is None:
                continue
            error = self._reader.errors[path]
            span = error.span or Span(Position(1, 1), Position(1, 1))
            diagnostic = Diagnostic(
                SYNTAX_ERROR, "syntax-error", error.message, Effect.INVALID,
                Confidence.HIGH, path, span, worth=Worth.HIGH, instead=SyntaxErrorRule.instead,
            )  # fmt: skip
            if not silencer.silences(diagnostic, file, None):
                self.flagged[str(path)] = file
                yield Found(diagnostic)

    def _leftovers(self, project: Project, shard: Shard, silencer: Silencer) -> Iterator[Found]:
        """Findings about the comments of the shard's own files."""
        for path in shard:
            module = project.module_at(path)
            if module is not None:
                for found in silencer.leftovers(module, self._visited):
                    self.flagged[str(path)] = module.file
                    yield found


def _excerpts(kept: Sequence[Found], files: Mapping[str, SourceFile]) -> dict[str, Excerpts]:
    """The lines around findings, by path."""
    lines: dict[str, dict[int, str]] = defaultdict(dict)
    for found in kept:
        path = found.diagnostic.path
        if path.suffix != ".ipynb":
            nearby = files[str(path)].nearby(found.diagnostic.span.start.row)
            lines[str(path)].update(nearby)
    return {path: list(nearby.items()) for path, nearby in lines.items()}


def standing(
    said: Sequence[tuple[Rule[Any], Event, Finding]],
    is_seen: Callable[[Rule[Any], Event, Finding], bool],
) -> dict[tuple[ast.AST | None, Effect], str]:
    """The findings that others cede to, by place and effect, and whose they are.

    What nobody sees is none of them: what cedes to it would vanish.
    """
    wanted = {finding.cedes_to for _, _, finding in said} - {None}
    return {
        (event.node, effect_of(rule, finding)): rule.code
        for rule, event, finding in said
        if finding.cedes_to is None and event.node in wanted and is_seen(rule, event, finding)
    }


def effect_of(rule: Rule[Any], finding: Finding) -> Effect:
    """What a finding costs: as it says, or as its rule does."""
    return finding.effect or rule.effects[0]


def worth_of(rule: Rule[Any], finding: Finding) -> Worth:
    """What removing it saves: what interrupts compiled code is never a mere hint."""
    effect = effect_of(rule, finding)
    usual = USUAL_WORTH[effect]
    worth = finding.worth or rule.worth or usual
    return Worth.LOW if worth is Worth.HINT and effect in INTERRUPTS else worth


def _once(event: Event, effect: Effect) -> str:
    """How often it costs something where not each call gets there; empty where each call pays.

    A graph break in a loop has the whole function run eagerly from then on, in later calls too, and
    one that is not allowed raises until it is gone.
    """
    site, reach = event.site, event.site.facts.reach
    if effect is Effect.RECOMPILE or effect is Effect.INVALID:
        return ""
    lasts = site.facts.drops_frame if reach.drops is None else reach.drops
    refused = site.region is not None and site.region.fullgraph
    return "" if effect is Effect.GRAPH_BREAK and (lasts or refused) else reach.once


def _asked(rule: Rule[Any], event: Event, analysis: Analysis) -> Finding | None:
    analysis.cuts.place = event.site
    try:
        finding = rule.check(event)
    except RecursionError:
        NESTING.cut()
        return None
    return None if finding is None else in_range(finding, event.site.settings)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Syntax trees are large and have no cycles worth collecting while they are in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def found_by(
    rule: Rule[Any],
    event: Event,
    finding: Finding,
    project: Project,
    compiled_at: CompiledAt = NOWHERE,
) -> Found:
    """The finding of a rule about an event, as it is reported."""
    site, file = event.site, event.site.module.file
    fix = _carried_out(finding.fix, site, project)
    repair = fix if isinstance(fix, Repair) else None
    effect = effect_of(rule, finding)
    once = _once(event, effect)
    gb_ids = of_releases(rule.gb_ids if finding.gb_ids is None else finding.gb_ids, site.settings)
    diagnostic = Diagnostic(
        code=rule.code,
        name=rule.name,
        message=headline(finding.message + once),
        effect=effect,
        confidence=finding.confidence or confidence_of(event),
        worth=_cheaper(worth_of(rule, finding), effect) if once else worth_of(rule, finding),
        path=file.path,
        span=file.span(finding.node or event.node),
        related=tuple(file.span(node) for node in finding.related),
        gb_ids=gb_ids,
        chain=site.chain,
        fixable=repair.applicability if repair else None,
        fix_message=repair.message if repair else None,
        declined=Decline(fix.reason) if isinstance(fix, Decline) else None,
        url=page_of(rule.code),
        remedies=tuple(remedies(site, finding.removed_by_settings, compiled_at)),
        instead=_instead(rule, finding, fix, site.facts.reach.once),
    )
    explicit = site.region is not None and site.region.explicit
    data = placed(repair) if repair else None
    return Found(diagnostic, data, not site.facts.default_off, explicit)


def _cheaper(worth: Worth, effect: Effect) -> Worth:
    """What it is worth if it is done once: a graph break splits and compiles anew, a wait ends."""
    if effect not in INTERRUPTS:
        return Worth.HINT
    return worth if worth is Worth.HINT else Worth.LOW


_DONE_BEFORE: Final = "Do it before compiling, or run a call eagerly first: later calls skip it"


def _instead(rule: Rule[Any], finding: Finding, fix: Repair | Decline | None, once: str) -> str:
    """What to do about a finding: what the fix does, or else what its author can write."""
    if isinstance(fix, Repair):
        return fix.message
    if once == FIRST_CALL and effect_of(rule, finding) is Effect.GRAPH_BREAK:
        return _DONE_BEFORE
    advice = fix.reason if isinstance(fix, Advice) else finding.instead or rule.instead
    return f"{advice[:1].upper()}{advice[1:]}" or f"Read `tclint rule {rule.code}`"


def _carried_out(
    fix: Repair | Decline | None, site: Site, project: Project
) -> Repair | Decline | None:
    """What a rule offers, as it can be carried out at its place; else the reason why it cannot."""
    fix = as_often(as_meant(for_oldest(fix, site), site, project), site, project)
    return keeping_comments(fix, site.module.file)


def _told(found: Found, event: Event, caller: Caller) -> Found | None:
    """A finding in an installed package, at the call of the project that runs into it."""
    told = told_at(found.diagnostic, event, caller)
    if told is None:
        return None
    return replace(found, diagnostic=told, repair=None)
