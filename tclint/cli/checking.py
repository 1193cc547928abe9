"""Running the analysis and printing its report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tclint.cli.exits import CLEAN, ERROR, FINDINGS
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import colour_on, complain, fail, write
from tclint.diagnostics import Diagnostic, Span
from tclint.lint.engine import Run, check_files
from tclint.lint.registry import load_rules
from tclint.report import statistics
from tclint.report.formats import OutputFormat, render
from tclint.report.summary import summary
from tclint.report.view import View
from tclint.source.errors import reason


@dataclass(frozen=True, slots=True)
class Output:
    """What is printed, how, and where."""

    format: OutputFormat = OutputFormat.TEXT
    file: Path | None = None
    show_declined: bool = False
    statistics: bool = False
    quiet: bool = False


def run_check(inputs: Inputs, output: Output, *, exit_zero: bool) -> int:
    """Check the files, print the report, and return the exit code."""
    run = check_files(inputs.files, inputs.config, inputs.overlay)
    run = replace(run, errors=(*inputs.errors, *run.errors))
    view = make_view(
        colour=output.file is None and colour_on(sys.stdout), show_declined=output.show_declined
    )
    complain_about(run, view)
    _print(_report(run, output, view), output.file)
    return exit_code(run, inputs.files, exit_zero=exit_zero)


def make_view(*, colour: bool, show_declined: bool = False) -> View:
    """How to show results to somebody in the current folder."""
    return View(Path.cwd(), colour, show_declined, load_rules())


def complain_about(run: Run, view: View) -> None:
    """Print the files' errors, except where a finding says the same already."""
    said = {(r.diagnostic.path, key) for r in run.results for key in _keys(r.diagnostic)}
    for error in run.errors:
        if not {(error.path, error.span), (error.path, error.message)} & said:
            complain(str(replace(error, path=Path(view.path(error.path)))))


def _keys(diagnostic: Diagnostic) -> tuple[Span, str]:
    return diagnostic.span, diagnostic.message


def exit_code(run: Run, files: Sequence[Path], *, exit_zero: bool) -> int:
    """0 clean, 1 findings or some files unreadable, 2 if no file could be read at all."""
    if run.errors and not run.results and {error.path for error in run.errors}.issuperset(files):
        return ERROR
    return FINDINGS if (run.results or run.errors) and not exit_zero else CLEAN


def _report(run: Run, output: Output, view: View) -> str:
    if output.statistics:
        if output.format is OutputFormat.JSON:
            return statistics.as_json(run)
        text = statistics.as_text(run)
    else:
        text = render(output.format, run, view)
    if output.format.for_people and not output.quiet:
        text += summary(run) + "\n"
    return text


def _print(text: str, file: Path | None) -> None:
    if file is None:
        write(text)
        return
    try:
        file.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except OSError as error:
        fail(f"cannot write {file}: {reason(error)}")
