"""``full``: everything a person wants to know about a finding, below its line of source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability, Confidence, Effect, Remedy, Worth
from tclint.printable import visible
from tclint.report.colour import BLUE, BOLD, Paint
from tclint.report.excerpt import excerpt
from tclint.report.head import head
from tclint.report.place import by_place
from tclint.report.remedies import remedy_notes
from tclint.report.view import chain_text, effect_text, folded, hanging

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """All findings, a blank line after each; those in tests and the like below a heading."""
    told = set[Remedy]()
    return "".join(_place(heading, found, view, told) for heading, found in by_place(run.results))


def _place(heading: str, results: list[Result], view: View, told: set[Remedy]) -> str:
    title = f"{Paint(view.colour)(f'{heading}:', BOLD)}\n\n" if heading else ""
    return title + "".join(_finding(result, view, told) + "\n" for result in results)


def _finding(result: Result, view: View, told: set[Remedy]) -> str:
    paint = Paint(view.colour)
    source = excerpt(result.file, result.diagnostic.span, paint, view.width)
    lines = [_head(result, view), *source.lines]
    equals = paint("=", BLUE, BOLD)
    for label, text in notes(result, view, told):
        start = f"{' ' * source.gutter} {equals} {paint(label, BOLD)}: "
        lines.append(start + folded(visible(text), source.gutter + len(label) + 5, view))
    return "".join(line + "\n" for line in lines)


def _head(result: Result, view: View) -> str:
    """The first line; on a terminal its message goes on below, between words."""
    said, message = head(result, view), visible(result.diagnostic.message)
    start = head(result, replace(view, colour=False, links=False)).removesuffix(message)
    first, *more = hanging(start + message, view)
    if not first.startswith(start):  # a path with blanks, in a narrow terminal
        return said
    return "\n".join([said.removesuffix(message) + first.removeprefix(start), *more])


def notes(result: Result, view: View, told: set[Remedy]) -> Iterator[tuple[str, str]]:
    """What there is to say of a finding besides its message, each with what it is about.

    ``told`` are the remedies whose risk stands further up.
    """
    diagnostic = result.diagnostic
    sure = diagnostic.confidence is Confidence.HIGH
    doubt = "" if sure else f", {diagnostic.confidence.value} confidence"
    cheap = ", worth next to nothing in most programs" if diagnostic.worth is Worth.HINT else ""
    if diagnostic.effect is not Effect.NONE:
        yield "effect", effect_text(diagnostic) + doubt + cheap
    if way := chain_text(diagnostic, view):
        yield "reached", way
    if diagnostic.fixable is not None:
        yield fix_note(result, diagnostic.fixable)
    elif diagnostic.declined is not None and view.show_declined:
        yield "not fixed", diagnostic.declined.reason
    yield from remedy_notes(diagnostic, view, told)
    yield "help", " · ".join(filter(None, [f"tclint rule {diagnostic.code}", diagnostic.url]))


def fix_note(result: Result, applicability: Applicability) -> tuple[str, str]:
    """What kind of fix a finding has, and what it does."""
    repair = result.repair
    message = result.diagnostic.fix_message or (repair.message if repair else "")
    if applicability is Applicability.SAFE:
        return "fix", message
    if applicability is Applicability.DISPLAY:
        return "suggestion", message
    note = f" ({repair.note})" if repair and repair.note else ""
    return "unsafe fix", message + note
