"""Running the analysis and printing its report."""

from __future__ import annotations

import sys
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.cli.configuration import torch_line
from tclint.cli.execution import remember
from tclint.cli.exits import CLEAN, ERROR, FINDINGS
from tclint.cli.file_bar import file_bar
from tclint.cli.inputs import Inputs
from tclint.cli.narrowing import Narrowed, Narrowing, narrowed, require_narrowing, update_baseline
from tclint.cli.report_file import require_report, write_report
from tclint.cli.terminal import (
    aside,
    colour_on,
    complain,
    fail,
    links_on,
    terminal_width,
    warn,
    write,
)
from tclint.config import Config
from tclint.lint.engine import Run, check_files, in_one
from tclint.lint.execution import Execution
from tclint.lint.registry import KnownRules
from tclint.lint.unmatched import unmatched
from tclint.printable import visible
from tclint.records import record
from tclint.report import looked, statistics
from tclint.report.formats import OutputFormat, render
from tclint.report.settings import settings_lines
from tclint.report.summary import summary
from tclint.report.view import View, folded

if TYPE_CHECKING:
    from tclint.cache.report_inputs import Recorder


@record(frozen=True)
class Output:
    """What is printed, how, and where."""

    format: OutputFormat = OutputFormat.FULL
    file: Path | None = None
    statistics: bool = False
    quiet: bool = False
    regions: bool = False


@record(frozen=True)
class Task:
    """What to do with the findings; ``add_ignore`` is the reason to give, None for no comments."""

    output: Output = field(default_factory=Output)
    narrowing: Narrowing = field(default_factory=Narrowing)
    update_baseline: bool = False
    add_ignore: str | None = None
    exit_zero: bool = False

    @property
    def only_prints(self) -> bool:
        """Whether nothing counts but the files that are checked, and nothing is written."""
        changes = self.update_baseline or self.add_ignore is not None
        return not changes and self.output.file is None and self.narrowing == Narrowing()

    def require_sense(self, *, stdin: bool, watch: bool) -> None:
        """End the command when options contradict each other."""
        if watch and stdin:
            fail("--watch: standard input is read once; name files or folders")
        if watch and (self.update_baseline or self.add_ignore is not None):
            fail("--watch changes no files: leave --update-baseline and --add-ignore out")
        if self.update_baseline and self.narrowing.baseline is None:
            fail("--update-baseline: --baseline names the file to write")
        if self.update_baseline and self.narrowing.since is not None:
            fail("--update-baseline needs all findings: leave --diff-only out")
        if stdin and (self.add_ignore is not None or self.narrowing.since is not None):
            fail("standard input has no file to change, and no history")


def run_check(inputs: Inputs, task: Task, how: Execution, recorder: Recorder | None = None) -> int:
    """Check the files, print the report, and return the exit code."""
    output = task.output
    if output.file is not None:
        require_report("--output-file", output.file, inputs.files)
    if not task.update_baseline:
        require_narrowing(task.narrowing, inputs.files)
    with file_bar(len(inputs.files)) as advance:
        run = _checked(inputs, replace(how, advance=advance))
    run = replace(run, errors=(*inputs.errors, *run.errors))
    shown = output.file is None
    view = make_view(colour=shown and colour_on(sys.stdout))
    links, fold = shown and links_on(sys.stdout), view.fold if shown else 0
    view = replace(view, links=links, fold=fold)
    complain_about(run, view)
    for warning in unmatched(run, [config for config, _ in inputs.parts]):
        warn(warning)
    if task.update_baseline and task.narrowing.baseline is not None:
        return update_baseline(run, task.narrowing.baseline, inputs.files)
    left = narrowed(run, task.narrowing, inputs.files)
    if task.add_ignore is not None:
        from tclint.cli.adding import add_ignores

        if inputs.errors:
            fail("nothing was silenced; a reason is written as in `--add-ignore=reason`")
        return add_ignores(left.run, task.add_ignore)
    torch = torch_line([config for config, _ in inputs.parts]) if run.files else ""
    text = _report(left, output, view, torch)
    _print(text, output.file, styled=view.colour or view.links)
    told = _aside(run, output, torch, stdin=inputs.stdin is not None)
    aside(told)
    code = CLEAN if output.regions else exit_code(left.run, exit_zero=task.exit_zero)
    if recorder is not None:
        remember(recorder, run, text, code, told)
    return code


def _checked(inputs: Inputs, how: Execution) -> Run:
    last = len(inputs.parts) - 1
    runs = [
        check_files(
            files, config, inputs.overlay, _apart(how, config, ends=how.ends and place == last)
        )
        for place, (config, files) in enumerate(inputs.parts)
    ]
    return in_one(runs)


def _apart(how: Execution, config: Config, *, ends: bool) -> Execution:
    """Each part of a run is remembered by itself."""
    cache = None if how.cache is None else how.cache.part(str(config.source))
    return replace(how, cache=cache, ends=ends)


def make_view(*, colour: bool) -> View:
    """How to show results to somebody in the current folder."""
    columns = terminal_width()
    fold = columns if sys.stdout.isatty() else 0
    return View(Path.cwd(), colour, KnownRules(), columns, fold=fold)


def complain_about(run: Run, view: View) -> None:
    """Print the files' errors, except where a finding says the same already."""
    for error in run.unread:
        complain(visible(str(replace(error, path=Path(view.path(error.path))))))


def exit_code(run: Run, *, exit_zero: bool) -> int:
    """0 clean, 1 findings, 2 where nobody knows what is in some file."""
    if run.unread:
        return ERROR
    return FINDINGS if run.results and not exit_zero else CLEAN


def _report(left: Narrowed, output: Output, view: View, torch: str) -> str:
    run = left.run
    if output.regions:
        as_json = output.format is OutputFormat.JSON
        return looked.as_json(run) if as_json else looked.as_text(run, view)
    if output.statistics:
        if output.format is OutputFormat.JSON:
            return statistics.as_json(run)
        text = statistics.as_text(run)
    else:
        text = render(output.format, run, view)
    if output.format.for_people and not output.quiet:
        settings = settings_lines(run, view)
        lines = (summary(run, left.known), *settings, looked.looked_line(run), torch)
        text += "".join(f"{folded(line, 0, view)}\n" for line in lines if line)
    return text


def _aside(run: Run, output: Output, torch: str, *, stdin: bool) -> str:
    """What was looked at, for people beside a report that only programs read.

    Editors, which send their text to standard input, take all else for trouble.
    """
    if output.regions or output.quiet or output.format.tells_all or stdin:
        return ""
    return "\n".join(filter(None, (looked.looked_line(run), torch)))


def _print(text: str, file: Path | None, *, styled: bool) -> None:
    if file is None:
        write(text, styled=styled)
        return
    write_report(file, text)
