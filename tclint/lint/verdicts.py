"""What each rule says of the events in a file, and what keeps a finding from being shown."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tclint.config import Config
from tclint.diagnostics import Confidence, Diagnostic, Span
from tclint.lint.examine import effect_of, found_by, standing
from tclint.lint.questions import Questions
from tclint.lint.registry import known_rules, load_rules
from tclint.lint.rule import Finding, Rule
from tclint.lint.scripts import outside_script
from tclint.lint.selection import is_selected, is_shown, leaving_out
from tclint.lint.silence import Silencer
from tclint.lint.third_party import Caller, ThirdParty, told_at
from tclint.lint.versions import in_range
from tclint.records import record
from tclint.semantics.events import Event
from tclint.semantics.interpreter.analysis import Analysis
from tclint.semantics.interpreter.scripted import Scripted
from tclint.semantics.symbols import ModuleInfo
from tclint.source.file import SourceFile


@record(frozen=True)
class Verdict:
    """What a rule said of a place: ``silent`` is the reason why it is not reported, if it is not.

    ``message`` is what it found, where it found something.
    """

    code: str
    name: str
    span: Span
    message: str = ""
    silent: str = ""


@record(frozen=True)
class _Said:
    """The answer of a rule to an event: a finding, or nothing.

    ``caller`` is the call in the file that leads to the event, where that is in a package.
    """

    event: Event
    caller: Caller | None
    rule: Rule[Any]
    finding: Finding | None


class Judging:
    """All rules at work on a file, those that are not selected as well."""

    def __init__(
        self, analysis: Analysis, module: ModuleInfo, config: Config, checked: frozenset[Path]
    ) -> None:
        """``analysis`` has walked the ``checked`` files for all events that rules look at."""
        self._config = config
        self._left_out = leaving_out(config)
        self._project = analysis.project
        self._scripted = Scripted(analysis, [module])
        self._silencer = Silencer(config, [rule.code for rule in known_rules()])
        questions = Questions(load_rules())
        self._said = [
            _Said(event, caller, rule, rule.check(event))
            for event, caller in _events(analysis, module, checked)
            for rule in questions.about(event)
        ]
        self._standing = standing([*self._asked_for()], self._is_seen)

    def verdicts(self) -> Iterator[Verdict]:
        """What the rules say, in the order of the events."""
        for said in self._said:
            rule, event = said.rule, said.event
            if said.caller is not None:
                yield from self._in_package(said, said.caller)
            elif said.finding is None:
                span = event.site.module.file.span(event.node)
                yield Verdict(rule.code, rule.name, span, silent="it finds nothing")
            else:
                yield self._found(rule, event, said.finding)

    def _is_seen(self, rule: Rule[Any], event: Event, finding: Finding) -> bool:
        return not self._found(rule, event, finding).silent

    def _asked_for(self) -> Iterator[tuple[Rule[Any], Event, Finding]]:
        """What a check that asks the selected rules alone would find."""
        for said in self._said:
            if said.finding is None or not is_selected(said.rule.code, self._config):
                continue
            if in_range(said.finding, said.event.site.settings) is not None:
                yield said.rule, said.event, said.finding

    def _found(self, rule: Rule[Any], event: Event, finding: Finding) -> Verdict:
        told = outside_script(finding, event, self._scripted)
        found = found_by(rule, event, told, self._project).diagnostic
        silent = "it does not hold for the torch versions that the project is for"
        if in_range(finding, event.site.settings) is not None:
            file, statement = event.site.module.file, event.site.statement
            silent = self._ceded(rule, finding) or self._silenced(found, file, statement)
        return Verdict(rule.code, rule.name, found.span, found.message, silent)

    def _in_package(self, said: _Said, caller: Caller) -> Iterator[Verdict]:
        """A finding in a package, at the call that runs into it."""
        rule, event, finding = said.rule, said.event, said.finding
        if finding is None or in_range(finding, event.site.settings) is None:
            return
        found = told_at(found_by(rule, event, finding, self._project).diagnostic, event, caller)
        if found is not None:
            silent = self._silenced(found, caller.file, caller.statement)
            yield Verdict(rule.code, rule.name, found.span, found.message, silent)

    def _ceded(self, rule: Rule[Any], finding: Finding) -> str:
        """The finding that one is left out for."""
        if finding.cedes_to is None:
            return ""
        standing = self._standing.get((finding.cedes_to, effect_of(rule, finding)))
        return f"{standing} reports the call around it" if standing else ""

    def _silenced(self, found: Diagnostic, file: SourceFile, statement: ast.stmt) -> str:
        """What keeps a finding from being shown."""
        if not is_selected(found.code, self._config):
            return "`select` and `ignore` leave the rule out"
        by = self._silencer.silencer(found, file, statement)
        if by:
            return f"{by} silences it"
        if not is_shown(found, self._config):
            unsure = found.confidence is Confidence.LOW
            why = "its confidence is low" if unsure else "it saves next to nothing in most programs"
            return f"{why}: `--weak` shows it"
        if self._left_out(found.path):
            return "`leave-out` leaves the file out"
        return ""


def _events(
    analysis: Analysis, module: ModuleInfo, checked: frozenset[Path]
) -> Iterator[tuple[Event, Caller | None]]:
    """The events in a file, and those in packages that a call in it surely runs into."""
    third_party = ThirdParty(analysis.bodies(), checked)
    for event in analysis.finish():
        if event.site.module is module:
            yield event, None
            continue
        caller = third_party.caller(event)
        if caller is not None and caller.file is module.file:
            yield event, caller
