"""The hover text on a reported place: what the rule is about, and what it says here."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from tclint.server.document import Reported
from tclint.server.engine import Engine


def hover_text(engine: Engine, found: Sequence[Reported]) -> types.MarkupContent:
    """Markdown for the findings at a place, one section each."""
    sections = [_section(engine, reported) for reported in found]
    return types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(sections))


def _section(engine: Engine, reported: Reported) -> str:
    diagnostic, repair = reported.result.diagnostic, reported.result.repair
    ids = f" ({', '.join(diagnostic.gb_ids)})" if diagnostic.gb_ids else ""
    paragraphs = [
        f"**{diagnostic.code}** `{diagnostic.name}`: {diagnostic.effect.value}{ids}",
        engine.summary(diagnostic.code) or "",
        diagnostic.message,
        f"The fix may change: {repair.changes}" if repair and repair.changes else "",
        f"No fix: {diagnostic.declined.reason}" if diagnostic.declined else "",
        f"[Documentation]({diagnostic.url})" if diagnostic.url else "",
    ]
    return "\n\n".join(p for p in paragraphs if p)
