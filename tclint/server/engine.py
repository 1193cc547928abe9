"""The functions of tclint that the server calls, gathered so that tests can put in their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tclint.config import Config
from tclint.diagnostics import Decline, Fix

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run


class Engine(Protocol):
    """What the server needs to know about code, rules and fixes."""

    def config(self, path: Path) -> Config:
        """The configuration that holds for a file."""
        ...

    def excludes(self, path: Path, config: Config) -> bool:
        """Whether the configuration leaves a file of the disk alone."""
        ...

    def check(self, paths: Sequence[Path], config: Config, overlay: Mapping[Path, str]) -> Run:
        """Findings of files, some of whose text is only in the editor."""
        ...

    def fix(self, result: Result) -> Fix | Decline | None:
        """The fix of a finding, the reason why there is none, or None where no fix exists."""
        ...

    def fix_all(self, path: Path, config: Config, overlay: Mapping[Path, str]) -> str | None:
        """The text of a file after all safe fixes; None when there is nothing to fix."""
        ...

    def summary(self, code: str) -> str | None:
        """What a rule is about, in one line."""
        ...


def around(path: Path, config: Config, overlay: Mapping[Path, str]) -> list[Path]:
    """The files to check for the sake of one: itself, and the open ones that may call it.

    Whether a helper is compiled depends on its callers.
    """
    others = (p for p in overlay if p != path and p.is_relative_to(config.root))
    return [path, *others]


class TclintEngine:
    """The engine of this installation. LibCST is loaded when the first fix is asked for."""

    def config(self, path: Path) -> Config:
        """The configuration that holds for a file."""
        from tclint.config import load_config

        return load_config(path)

    def check(self, paths: Sequence[Path], config: Config, overlay: Mapping[Path, str]) -> Run:
        """Findings of files, some of whose text is only in the editor."""
        from tclint.lint.engine import check_files

        return check_files(paths, config, overlay)

    def excludes(self, path: Path, config: Config) -> bool:
        """Whether the configuration leaves a file of the disk alone."""
        from tclint.source.discovery import discover

        return not discover([path], replace(config, force_exclude=True)).files

    def fix(self, result: Result) -> Fix | Decline | None:
        """The fix of a finding, the reason why there is none, or None where no fix exists."""
        from tclint.report.repairs import fix_of

        return fix_of(result)

    def fix_all(self, path: Path, config: Config, overlay: Mapping[Path, str]) -> str | None:
        """The text of a file after all safe fixes; None when there is nothing to fix."""
        from tclint.fix.apply import fix_files
        from tclint.lint.engine import check_files

        paths = around(path, config, overlay)

        def check(
            _: Sequence[Path], config: Config, texts: Mapping[Path, str] | None = None
        ) -> Run:
            run = check_files(paths, config, texts)
            return replace(run, results=tuple(r for r in run.results if r.file.path == path))

        fixed = fix_files([path], config, overlay=overlay, check=check)
        return next((file.after for file in fixed.changed if file.path == path), None)

    def summary(self, code: str) -> str | None:
        """What a rule is about, in one line."""
        from tclint.lint.registry import known_rules

        return next((rule.summary for rule in known_rules() if rule.code == code), None)
