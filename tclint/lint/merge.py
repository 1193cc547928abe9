"""From the outcomes of shards to one list of findings."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace

from tclint.diagnostics import Applicability, Span
from tclint.lint.codes import UNUSED_SUPPRESSION
from tclint.lint.outcome import Found, Outcome, Silencing
from tclint.lint.shards import Shard

_SAFETY = {
    None: 0, Applicability.DISPLAY: 1, Applicability.UNSAFE: 2, Applicability.SAFE: 3,
}  # fmt: skip
Place = tuple[str, str, Span]


def merged(parts: Sequence[tuple[Shard, Outcome]]) -> list[Found]:
    """The findings of all shards, each once.

    A function that several shards reach may be judged in each. The view of the shard that is the
    surest stands, preferring the one that holds the file; but the fix is only as safe as all agree.
    """
    if len(parts) == 1:
        return parts[0][1].findings
    silencing = {comment for _, outcome in parts for comment in outcome.silencing}
    views: dict[Place, list[list[Found]]] = {}
    for group in _by_preference(parts):
        for place, found in _by_place(group).items():
            views.setdefault(place, []).append(found)
    agreed = (found for seen in views.values() for found in _agreed(seen))
    return [found for found in agreed if not _is_used_after_all(found, silencing)]


def _is_used_after_all(found: Found, silencing: Container[Silencing]) -> bool:
    """Whether a comment that silences nothing in its own shard does so in another."""
    diagnostic = found.diagnostic
    if diagnostic.code != UNUSED_SUPPRESSION:
        return False
    return Silencing(str(diagnostic.path), diagnostic.span) in silencing


def _by_preference(parts: Sequence[tuple[Shard, Outcome]]) -> Iterator[list[Found]]:
    """The findings in groups: sure ones first, then explicit ones, then those of own files."""
    groups: dict[tuple[bool, bool, bool, int], list[Found]] = {}
    for number, (shard, outcome) in enumerate(parts):
        own = frozenset(shard)
        for found in outcome.findings:
            foreign = found.diagnostic.path not in own
            key = (not found.sure, not found.explicit, foreign, number)
            groups.setdefault(key, []).append(found)
    return (groups[key] for key in sorted(groups))


def _by_place(group: Iterable[Found]) -> dict[Place, list[Found]]:
    places: dict[Place, list[Found]] = {}
    for found in group:
        diagnostic = found.diagnostic
        place = (str(diagnostic.path), diagnostic.code, diagnostic.span)
        places.setdefault(place, []).append(found)
    return places


def _agreed(views: Sequence[list[Found]]) -> Iterator[Found]:
    """The first view, with the most careful fix of all."""
    careful = min((found for view in views for found in view), key=_safety)
    return (_with_fix(found, careful) for found in views[0])


def _with_fix(found: Found, careful: Found) -> Found:
    """A finding with the fix of another view of it, where that one is more careful."""
    if _safety(careful) >= _safety(found):
        return found
    fix = careful.diagnostic
    diagnostic = replace(
        found.diagnostic,
        fixable=fix.fixable,
        fix_message=fix.fix_message,
        declined=fix.declined,
    )
    return replace(found, diagnostic=diagnostic, repair=careful.repair)


def _safety(found: Found) -> int:
    return _SAFETY[found.diagnostic.fixable]
