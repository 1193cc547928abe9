"""Hover texts: what a finding is about, what a rule's code stands for, what a value is and why."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Position, Span
from tclint.lint.links import graph_break_page
from tclint.lint.looked import RegionSeen
from tclint.report.settings import needed, said
from tclint.report.told import told
from tclint.semantics.readable import readable
from tclint.server.document import Analysis, Reported
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from tclint.semantics.explain import Explained

_CODE: Final = re.compile(r"\b[A-Z]{2,}\d+\b")
_COMPILE: Final = re.compile(r"\bcompile\b")
MOST: Final = 12
"""Functions of a region that are named; `--show-regions` tells of all."""


def finding_text(found: Sequence[Reported]) -> str:
    """Markdown for the findings at a place, one section each."""
    return "\n\n---\n\n".join(map(_section, found))


def code_at(file: SourceFile, place: Position) -> tuple[str, Span] | None:
    """The code that a comment names at a place."""
    line = file.lines[place.row - 1] if place.row <= len(file.lines) else ""
    comment = line.find("#")
    for match in _CODE.finditer(line):
        start, end = match.start() + 1, match.end() + 1
        if 0 <= comment < match.start() and start <= place.column <= end:
            return match[0], Span(Position(place.row, start), Position(place.row, end))
    return None


def compiled_at(analysis: Analysis, place: Position) -> tuple[str, Span] | None:
    """Markdown for what a call of `torch.compile` compiles, where the place is on its name.

    With the settings to turn on before it that remove findings of this document.
    """
    lines = analysis.file.lines
    line = lines[place.row - 1] if place.row <= len(lines) else ""
    for match in _COMPILE.finditer(line):
        start, end = match.start() + 1, match.end() + 1
        regions = analysis.compiled_on(place.row) if start <= place.column <= end else ()
        if regions:
            text = "\n\n".join([*map(_region, regions), *_settings(analysis, place.row)])
            return text, Span(Position(place.row, start), Position(place.row, end))
    return None


def _region(region: RegionSeen) -> str:
    reached = [f"`{link.function}`" for link in region.reached[1:]]
    shown, more = ", ".join(reached[:MOST]), len(reached) - MOST
    others = f" Reaches {shown}{f' and {more} more' if more > 0 else ''}." if reached else ""
    loops = ", ".join(f"{Path(loop.filename).name}:{loop.row}" for loop in region.loops)
    calls = f" Called by the loop at {loops}." if loops else ""
    return f"Compiles `{region.root.function}`.{others}{calls}"


def _settings(analysis: Analysis, row: int) -> Iterator[str]:
    """The settings to turn on before a row, which compiles what findings are in."""
    here = (str(analysis.document.path), row)
    found = [
        remedy
        for remedy in needed(reported.result for reported in analysis.reported)
        if any((place.filename, place.row) == here for place in remedy.places)
    ]
    if found:
        yield said(found, "before this line")


def value_text(known: Explained) -> str:
    """Markdown for what an expression is taken for, and why."""
    reasons = "".join(f"\n- {reason}" for reason in (*known.reasons, *known.evidence))
    return f"`{known.text}`: {readable(known.value)}" + (f"\n{reasons}" if reasons else "")


def _section(reported: Reported) -> str:
    diagnostic = reported.result.diagnostic
    links = ", ".join(f"[{one}]({graph_break_page(one)})" for one in diagnostic.gb_ids)
    ids = f" ({links})" if links else ""
    one = told(reported.result)
    paragraphs = [
        f"**{one.code}** `{diagnostic.name}`: {diagnostic.effect.value}{ids}",
        one.headline,
        *(f"{label.capitalize()}: {text}" for label, text in one.below),
    ]
    return "\n\n".join(paragraphs)
