"""Applying fixes and saying what was done."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tclint.cli.checking import complain_about, exit_code, make_view
from tclint.cli.exits import CLEAN, FINDINGS
from tclint.cli.inputs import Inputs
from tclint.cli.terminal import colour_on, note, write, write_bytes
from tclint.report.diff import render_diff
from tclint.report.formats import OutputFormat, render
from tclint.report.summary import summary
from tclint.report.view import View, count
from tclint.source.errors import FileError, SourceError
from tclint.source.file import SourceFile
from tclint.source.write import write_text

if TYPE_CHECKING:
    from tclint.diagnostics import Decline, Diagnostic
    from tclint.fix.apply import FixedFile, FixRun
    from tclint.lint.engine import Result


def show_diff(inputs: Inputs, *, unsafe: bool, exit_zero: bool) -> int:
    """Print what fixes would change; 1 if there is anything."""
    fixes = _fixes(inputs, unsafe=unsafe)
    view = make_view(colour=colour_on(sys.stdout))
    write(render_diff(fixes.changed, view))
    complain_about(fixes.remaining, view)
    number = sum(len(file.applied) for file in fixes.changed)
    if number:
        note(f"Would fix {count(number, 'finding')}.")
        return CLEAN if exit_zero else FINDINGS
    note("Nothing to fix.")
    return exit_code(replace(fixes.remaining, results=()), inputs.files, exit_zero=exit_zero)


@dataclass(frozen=True, slots=True)
class FixOptions:
    """How to fix, and what to say about it."""

    unsafe: bool = False
    quiet: bool = False
    show_declined: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False


def run_fix(inputs: Inputs, how: FixOptions) -> int:
    """Apply fixes, print what was fixed and what remains, and return the exit code."""
    fixes = _fixes(inputs, unsafe=how.unsafe)
    if inputs.stdin is not None:
        _print_repaired(inputs.stdin, fixes)
        return exit_code(fixes.remaining, inputs.files, exit_zero=how.exit_zero)
    view = make_view(colour=colour_on(sys.stdout), show_declined=how.show_declined)
    written, errors = _write_all(fixes.changed)
    remaining = replace(fixes.remaining, errors=(*fixes.remaining.errors, *errors))
    complain_about(remaining, view)
    text = fixed_text(written, view)
    text += render(OutputFormat.TEXT, remaining, view)
    if not how.quiet:
        text += summary(remaining) + "\n"
    write(text)
    if written and how.exit_non_zero_on_fix:
        return FINDINGS
    return exit_code(remaining, inputs.files, exit_zero=how.exit_zero)


def fixed_text(changed: Sequence[FixedFile], view: View) -> str:
    """What was fixed, by file and rule."""
    number = sum(len(file.applied) for file in changed)
    if not number:
        return ""
    names = {rule.code: rule.name for rule in view.rules}
    lines = [f"Fixed {count(number, 'finding')}:"]
    for file in changed:
        lines.append(f"- {view.path(file.path)}:")
        for code, times in sorted(Counter(file.applied).items()):
            name = f" ({names[code]})" if code in names else ""
            lines.append(f"    {times} \N{MULTIPLICATION SIGN} {code}{name}")
    return "\n".join(lines) + "\n\n"


def _fixes(inputs: Inputs, *, unsafe: bool) -> FixRun:
    from tclint.fix.apply import fix_files

    fixes = fix_files(inputs.files, inputs.config, unsafe=unsafe, overlay=inputs.overlay)
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


def _print_repaired(file: SourceFile, fixes: FixRun) -> None:
    """Print the whole text, repaired or not, in the bytes that editors sent."""
    complain_about(fixes.remaining, make_view(colour=False))
    text = next((changed.after for changed in fixes.changed), file.text)
    write_bytes(text.encode(file.encoding))


def _write_all(changed: Sequence[FixedFile]) -> tuple[list[FixedFile], list[FileError]]:
    written: list[FixedFile] = []
    errors: list[FileError] = []
    for file in changed:
        try:
            write_text(file.path, file.after, file.encoding)
        except SourceError as error:
            errors.append(error.error)
        else:
            written.append(file)
    return written, errors
