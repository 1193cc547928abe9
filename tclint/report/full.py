"""``full``: everything a person wants to know about a finding, below its line of source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.diagnostics import Confidence, Effect, Worth
from tclint.printable import visible
from tclint.report.colour import BLUE, BOLD, Paint
from tclint.report.excerpt import excerpt
from tclint.report.head import head
from tclint.report.place import by_place
from tclint.report.told import told
from tclint.report.view import chain_text, effect_text, folded, hanging

if TYPE_CHECKING:
    from tclint.lint.engine import Result, Run
    from tclint.report.view import View


def render(run: Run, view: View) -> str:
    """All findings, a blank line after each; those in tests and the like below a heading."""
    known = set[str]()
    return "".join(_place(heading, found, view, known) for heading, found in by_place(run.results))


def _place(heading: str, results: list[Result], view: View, known: set[str]) -> str:
    title = f"{Paint(view.colour)(f'{heading}:', BOLD)}\n\n" if heading else ""
    return title + "".join(_finding(result, view, known) + "\n" for result in results)


def _finding(result: Result, view: View, known: set[str]) -> str:
    paint = Paint(view.colour)
    source = excerpt(result.file, result.diagnostic.span, paint, view.width)
    lines = [_head(result, view), *source.lines]
    equals = paint("=", BLUE, BOLD)
    for label, text in notes(result, view, known):
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


def notes(result: Result, view: View, known: set[str]) -> Iterator[tuple[str, str]]:
    """What there is to say of a finding besides its headline, each with what it is about.

    ``known`` are the rules of the findings further up: why theirs matter is said once.
    """
    yield from circumstances(result, view)
    for label, text in told(result).below:
        if label == "instead" or result.diagnostic.code not in known:
            yield label, text
    known.add(result.diagnostic.code)


def circumstances(result: Result, view: View) -> Iterator[tuple[str, str]]:
    """What a finding costs, how sure that is, and how the line is reached."""
    diagnostic = result.diagnostic
    sure = diagnostic.confidence is Confidence.HIGH
    doubt = "" if sure else f", {diagnostic.confidence.value} confidence"
    cheap = ", worth next to nothing in most programs" if diagnostic.worth is Worth.HINT else ""
    if diagnostic.effect is not Effect.NONE:
        yield "effect", effect_text(diagnostic) + doubt + cheap
    if way := chain_text(diagnostic, view):
        yield "reached", way
