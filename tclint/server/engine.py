"""The functions of tclint that the server calls, gathered so that tests can put in their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tclint.config import Config
from tclint.diagnostics import Decline, Fix
from tclint.lint.registry import known_rules
from tclint.report.page import page
from tclint.report.repairs import fix_of
from tclint.semantics.explain import explained
from tclint.server.programs import Programs
from tclint.server.settings import Settings

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.semantics.explain import Explained

Texts = Mapping[Path, str]
"""The texts of all open documents."""


class Engine(Protocol):
    """What the server needs to know about code, rules and fixes."""

    def config(self, path: Path, folder: Path | None, settings: Settings) -> Config:
        """The configuration that holds for a file in a workspace folder, or in none."""
        ...

    def excludes(self, path: Path, config: Config) -> bool:
        """Whether the configuration leaves a file of the disk alone."""
        ...

    def around(
        self, path: Path, opened: Sequence[Path], config: Config, folder: Path | None, texts: Texts
    ) -> tuple[Path, ...]:
        """The files to check for the sake of one: itself and what belongs to it."""
        ...

    def check(self, paths: Sequence[Path], config: Config, texts: Texts) -> Run:
        """Findings of files, some of whose text is only in the editor."""
        ...

    def fix(self, result: Result) -> Fix | Decline | None:
        """The fix of a finding, the reason why there is none, or None where no fix exists."""
        ...

    def fix_all(
        self, path: Path, paths: Sequence[Path], config: Config, texts: Texts, code: str
    ) -> str | None:
        """The text of a file after all safe fixes, of one rule or of all; None without any."""
        ...

    def explain(
        self, path: Path, paths: Sequence[Path], config: Config, texts: Texts, at: tuple[int, int]
    ) -> Sequence[Explained]:
        """What is known of the values around a row and column, the innermost first."""
        ...

    def summary(self, code: str) -> str | None:
        """What a rule is about, in one line."""
        ...

    def page(self, code: str) -> str | None:
        """A rule's page in Markdown."""
        ...

    def forget(self) -> None:
        """Look again at what is on disk: files have come, gone or changed."""
        ...


class TclintEngine:
    """The engine of this installation. LibCST is loaded when the first fix is asked for."""

    def __init__(self) -> None:

        self._programs: Programs = Programs()

    def config(self, path: Path, folder: Path | None, settings: Settings) -> Config:
        """The configuration that holds for a file in a workspace folder, or in none."""
        return self._programs.config(path, folder, settings)

    def excludes(self, path: Path, config: Config) -> bool:
        """Whether the configuration leaves a file of the disk alone."""
        return self._programs.excludes(path, config)

    def around(
        self, path: Path, opened: Sequence[Path], config: Config, folder: Path | None, texts: Texts
    ) -> tuple[Path, ...]:
        """The files to check for the sake of one: itself and what belongs to it."""
        return self._programs.enter(config, folder).checked(path, opened, texts)

    def check(self, paths: Sequence[Path], config: Config, texts: Texts) -> Run:
        """Findings of files, some of whose text is only in the editor."""
        program = self._programs.of(config)
        return program.check(paths, replace(config, partial=not program.is_whole), texts)

    def fix(self, result: Result) -> Fix | Decline | None:
        """The fix of a finding, the reason why there is none, or None where no fix exists."""
        return fix_of(result)

    def fix_all(
        self, path: Path, paths: Sequence[Path], config: Config, texts: Texts, code: str
    ) -> str | None:
        """The text of a file after all safe fixes, of one rule or of all; None without any."""
        from tclint.fix.apply import fix_files

        program = self._programs.of(config)

        def check(
            _: Sequence[Path], config: Config, texts: Mapping[Path, str] | None = None
        ) -> Run:
            run = program.check(paths, config, texts or {})
            return replace(run, results=tuple(r for r in run.results if r.file.path == path))

        if code:
            config = replace(config, fixable=(code,))
        config = replace(config, partial=not program.is_whole)
        fixed = fix_files([path], config, overlay=texts, check=check)
        return next((file.after for file in fixed.changed if file.path == path), None)

    def explain(
        self, path: Path, paths: Sequence[Path], config: Config, texts: Texts, at: tuple[int, int]
    ) -> Sequence[Explained]:
        """What is known of the values around a row and column, the innermost first."""
        with self._programs.of(config).interpreted(paths, texts) as (project, analysis):
            module = project.module_at(path)
            return explained(analysis, module, *at) if module is not None else []

    def summary(self, code: str) -> str | None:
        """What a rule is about, in one line."""
        return next((rule.summary for rule in known_rules() if rule.code == code), None)

    def page(self, code: str) -> str | None:
        """A rule's page in Markdown."""
        return next((page(rule) for rule in known_rules() if rule.code == code), None)

    def forget(self) -> None:
        """Look again at what is on disk: files have come, gone or changed."""
        self._programs.forget()
