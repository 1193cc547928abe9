"""Applying fixes and saying what was done."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.cli.checking import complain_about, exit_code, make_view
from tclint.cli.exits import CLEAN, ERROR, FINDINGS
from tclint.cli.file_bar import file_bar
from tclint.cli.inputs import Inputs
from tclint.cli.narrowing import Narrowing, narrowed, require_narrowing
from tclint.cli.terminal import (
    colour_on,
    for_programs,
    note,
    warn,
    warn_of_other_names,
    write,
    write_bytes,
)
from tclint.fix.recheck import Recheck
from tclint.fix.results import FixRun, Remedies, key_of
from tclint.lint.engine import in_one
from tclint.lint.execution import Execution
from tclint.records import record
from tclint.report.diff import patch, render_diff
from tclint.report.fixes import as_json
from tclint.report.fixes import text as as_text
from tclint.report.fixes.outcome import Ground, Outcome, Reason, ReportedFix, Status, plain_outcome
from tclint.report.formats import OutputFormat, render
from tclint.report.settings import settings_lines
from tclint.report.summary import summary
from tclint.report.view import View, count, folded
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile
from tclint.source.write import NewText, encoded, sweep, write_all
from tclint.torch_facts.dynamo_settings import SETTINGS

if TYPE_CHECKING:
    from tclint.diagnostics import Decline, Diagnostic
    from tclint.fix.results import FixedFile, FixKey
    from tclint.lint.engine import Result


_NOTEBOOK = "notebooks cannot be verified; `tclint fix` without --verify fixes them"


@record(frozen=True)
class FixOptions:
    """How to fix, and what to say about it."""

    unsafe: bool = False
    settings: bool = False
    diff: bool = False
    as_json: bool = False
    quiet: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    narrowing: Narrowing = field(default_factory=Narrowing)
    jobs: int = 0


def run_fix(inputs: Inputs, how: FixOptions) -> int:
    """Apply fixes, print what was fixed and what remains, and return the exit code."""
    if not how.diff and inputs.stdin is None:
        sweep_beside(inputs)
    with file_bar(len(inputs.files)) as advance:
        fixes = settle(fixer(inputs, how, advance)(None, remedies_of(how)), inputs)
    if inputs.stdin is not None and not (how.diff or how.as_json):
        _print_repaired(inputs.stdin, inputs.raw, fixes)
        return exit_code(fixes.remaining, exit_zero=how.exit_zero)
    if how.diff or inputs.stdin is not None:
        return deliver(plain_outcome(fixes, Status.OFFERED), inputs, how)
    outcome = plain_outcome(fixes, Status.APPLIED)
    return deliver(written(outcome, [[file] for file in outcome.changed]), inputs, how)


def sweep_beside(inputs: Inputs) -> None:
    """Remove what killed runs have left beside the files."""
    sweep(sorted({os.path.dirname(os.path.realpath(path)) for path in inputs.files}))  # noqa: PTH120


def without_notebooks(inputs: Inputs, named: Sequence[Path] = ()) -> Inputs:
    """Leave notebooks out: nothing imports them, so that no target can confirm their fixes.

    One that is ``named`` is an error, since nothing of what was asked for is done.
    """
    notebooks = [path for path in inputs.files if path.suffix == ".ipynb"]
    errors = [FileError(path, _NOTEBOOK) for path in notebooks if path in named]
    if others := [path for path in notebooks if path not in named]:
        more = f" and {count(len(others) - 1, 'other')}" if others[1:] else ""
        warn(f"{others[0]}{more}: {_NOTEBOOK}")
    files = tuple(path for path in inputs.files if path.suffix != ".ipynb")
    return replace(inputs, files=files, errors=(*inputs.errors, *errors))


def remedies_of(how: FixOptions) -> Remedies:
    """What is to be done about findings that no fix removes."""
    return Remedies(frozenset(SETTINGS) if how.settings else frozenset())


def fixer(
    inputs: Inputs, how: FixOptions, advance: Callable[[int], None] | None = None
) -> Callable[[Callable[[FixKey], bool] | None, Remedies], FixRun]:
    """What makes the fixes of the files, of all or of those that a test allows.

    The files of each configuration are fixed by themselves. Fixing again looks again only at what
    other fixes make different. ``advance`` is told how many files were looked at.
    """
    from tclint.fix.apply import fix_files

    require_narrowing(how.narrowing, inputs.files)
    execution = Execution(how.jobs, advance=advance)
    parts = [(config, files, Recheck(execution)) for config, files in inputs.parts]
    among = _asked_about(inputs, how.narrowing, [check for _, _, check in parts])

    def fix(allow: Callable[[FixKey], bool] | None, remedies: Remedies) -> FixRun:
        runs = [
            fix_files(
                files,
                config,
                unsafe=how.unsafe,
                remedies=remedies,
                overlay=inputs.overlay,
                check=check,
                allow=allow,
                among=among,
            )
            for config, files, check in parts
        ]
        return FixRun(
            tuple(file for run in runs for file in run.changed),
            in_one([run.remaining for run in runs]),
            tuple(declined for run in runs for declined in run.declined),
        )

    return fix


def _asked_about(
    inputs: Inputs, narrowing: Narrowing, checks: Sequence[Recheck]
) -> frozenset[FixKey] | None:
    """The findings that a check with this narrowing shows; None where it shows all."""
    if narrowing == Narrowing():
        return None

    both = zip(inputs.parts, checks, strict=True)
    run = in_one([check(files, config, inputs.overlay) for (config, files), check in both])
    left = narrowed(run, narrowing, inputs.files).run
    return frozenset(key_of(result.diagnostic) for result in left.results)


def settle(fixes: FixRun, inputs: Inputs) -> FixRun:
    """Say of what remains all that is known: unreadable files, and fixes that met an obstacle."""
    declined = {item.diagnostic: item.decline for item in fixes.declined}
    remaining = replace(
        fixes.remaining,
        results=tuple(_settled(result, declined) for result in fixes.remaining.results),
        errors=(*inputs.errors, *fixes.remaining.errors),
    )
    return replace(fixes, remaining=remaining)


def _settled(result: Result, declined: Mapping[Diagnostic, Decline]) -> Result:
    """A finding whose fix turned out to be impossible is not fixable after all."""
    decline = declined.get(result.diagnostic)
    if decline is None:
        return result
    diagnostic = replace(result.diagnostic, fixable=None, declined=decline)
    return replace(result, diagnostic=diagnostic, repair=None)


def _print_repaired(file: SourceFile, raw: bytes, fixes: FixRun) -> None:
    """Print the whole text, repaired or not, in the bytes that editors sent."""
    complain_about(fixes.remaining, make_view(colour=False))
    text = next((changed.after for changed in fixes.changed), file.text)
    write_bytes(encoded(NewText(file.path, text, file.encoding), lambda: raw), file.encoding)


def written(outcome: Outcome, sets: Sequence[Sequence[FixedFile]]) -> Outcome:
    """Write the files; of each set all or none. What could not be written counts as dropped."""
    failed: dict[Path, FileError] = {}
    for files in sets:
        try:
            apart = write_all([NewText(f.path, f.after, f.encoding, f.before) for f in files])
            warn_of_other_names(apart)
        except SourceError as problem:
            failed.update((file.path, problem.error) for file in files)
    errors = tuple(dict.fromkeys(failed.values()))
    return replace(
        outcome,
        fixes=tuple(_unless_failed(one, failed) for one in outcome.fixes),
        changed=tuple(file for file in outcome.changed if file.path not in failed),
        remaining=replace(outcome.remaining, errors=(*outcome.remaining.errors, *errors)),
    )


def _unless_failed(one: ReportedFix, failed: Mapping[Path, FileError]) -> ReportedFix:
    error = failed.get(one.fix.diagnostic.path)
    if error is None or one.status is not Status.APPLIED:
        return one
    reason = Reason(Ground.NOT_WRITTEN, error.message)
    return replace(one, status=Status.DROPPED, reason=reason)


def deliver(outcome: Outcome, inputs: Inputs, how: FixOptions) -> int:
    """Print the report, and return the exit code."""
    view = make_view(colour=colour_on(sys.stdout))
    complain_about(outcome.remaining, view)
    if how.diff and not how.as_json and for_programs(sys.stdout):
        write_bytes(patch(outcome.changed, view))
    else:
        write(_report(outcome, view, how), styled=view.colour)
    if how.diff:
        if outcome.verification is not None and not how.as_json:
            note(as_text.render(outcome, make_view(colour=False)).rstrip())
        return _diff_code(outcome, how)
    if outcome.kept and how.exit_non_zero_on_fix and not outcome.remaining.unread:
        return FINDINGS
    return exit_code(outcome.remaining, exit_zero=how.exit_zero)


def _report(outcome: Outcome, view: View, how: FixOptions) -> str:
    if how.as_json:
        return as_json.render(outcome)
    if how.diff:
        return render_diff(outcome.changed, view)
    report = as_text.render(outcome, view) + render(OutputFormat.FULL, outcome.remaining, view)
    if how.quiet:
        return report
    lines = (summary(outcome.remaining), *settings_lines(outcome.remaining, view))
    return report + "".join(f"{folded(line, 0, view)}\n" for line in lines)


def _diff_code(outcome: Outcome, how: FixOptions) -> int:
    note(f"Would fix {outcome.told}." if outcome.kept else "Nothing to fix.")
    if outcome.remaining.unread:
        return ERROR
    return FINDINGS if outcome.kept and not how.exit_zero else CLEAN
