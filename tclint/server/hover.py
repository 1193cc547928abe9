"""Hover texts: what a finding is about, what a rule's code stands for, what a value is and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tclint.diagnostics import Position, Remedy, Span
from tclint.lint.looked import RegionSeen
from tclint.semantics.readable import readable
from tclint.server.document import Analysis, Reported
from tclint.server.engine import Engine
from tclint.source.file import SourceFile

if TYPE_CHECKING:
    from tclint.semantics.explain import Explained

_CODE: Final = re.compile(r"\b[A-Z]{2,}\d+\b")
_COMPILE: Final = re.compile(r"\bcompile\b")
MOST: Final = 12
"""Functions of a region that are named; `--show-regions` tells of all."""


def finding_text(engine: Engine, found: Sequence[Reported]) -> str:
    """Markdown for the findings at a place, one section each."""
    return "\n\n---\n\n".join(_section(engine, reported) for reported in found)


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
    """Markdown for what a call of `torch.compile` compiles, where the place is on its name."""
    lines = analysis.file.lines
    line = lines[place.row - 1] if place.row <= len(lines) else ""
    for match in _COMPILE.finditer(line):
        start, end = match.start() + 1, match.end() + 1
        regions = analysis.compiled_on(place.row) if start <= place.column <= end else ()
        if regions:
            text = "\n\n".join(map(_region, regions))
            return text, Span(Position(place.row, start), Position(place.row, end))
    return None


def _region(region: RegionSeen) -> str:
    reached = [f"`{link.function}`" for link in region.reached[1:]]
    shown, more = ", ".join(reached[:MOST]), len(reached) - MOST
    others = f" Reaches {shown}{f' and {more} more' if more > 0 else ''}." if reached else ""
    loops = ", ".join(f"{Path(loop.filename).name}:{loop.row}" for loop in region.loops)
    calls = f" Called by the loop at {loops}." if loops else ""
    return f"Compiles `{region.root.function}`.{others}{calls}"


def value_text(known: Explained) -> str:
    """Markdown for what an expression is taken for, and why."""
    reasons = "".join(f"\n- {reason}" for reason in (*known.reasons, *known.evidence))
    return f"`{known.text}`: {readable(known.value)}" + (f"\n{reasons}" if reasons else "")


def _remedy(remedy: Remedy) -> str:
    head = f"Or {remedy.message[:1].lower()}{remedy.message[1:]}"
    return f"{head} ({remedy.changes})" if remedy.changes else head


def _section(engine: Engine, reported: Reported) -> str:
    diagnostic, repair = reported.result.diagnostic, reported.result.repair
    ids = f" ({', '.join(diagnostic.gb_ids)})" if diagnostic.gb_ids else ""
    paragraphs = [
        f"**{diagnostic.code}** `{diagnostic.name}`: {diagnostic.effect.value}{ids}",
        engine.summary(diagnostic.code) or "",
        diagnostic.message,
        f"Unsafe fix: {repair.note}" if repair and repair.note else "",
        f"No fix: {diagnostic.declined.reason}" if diagnostic.declined else "",
        *(_remedy(remedy) for remedy in diagnostic.remedies),
        f"[Documentation]({diagnostic.url})" if diagnostic.url else "",
    ]
    return "\n\n".join(p for p in paragraphs if p)
