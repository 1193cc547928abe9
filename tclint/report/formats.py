"""The output formats by name; a format's module is imported when it is asked for."""

from __future__ import annotations

from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING

from tclint.printable import printable

if TYPE_CHECKING:
    from tclint.lint.engine import Run
    from tclint.report.view import View


class OutputFormat(str, Enum):
    """What ``--output-format`` accepts."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"

    @property
    def for_people(self) -> bool:
        """Whether a summary line belongs below it."""
        return self in {OutputFormat.FULL, OutputFormat.CONCISE}

    @property
    def tells_all(self) -> bool:
        """Whether what was looked at is in the report itself."""
        return self.for_people or self is OutputFormat.SARIF


def render(output_format: OutputFormat, run: Run, view: View) -> str:
    """The report of a run, every line ended; empty where a format has nothing to say.

    Whatever a format does with names and messages, nothing in the report moves a cursor.
    """
    name = "as_json" if output_format is OutputFormat.JSON else output_format.value
    text: str = import_module(f"tclint.report.{name}").render(run, view)
    return printable(text, styled=output_format.for_people and (view.colour or view.links))
