"""From the outcomes of shards to one list of findings."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tclint.diagnostics import (
    Applicability,
    ChainLink,
    Confidence,
    Decline,
    Diagnostic,
    Effect,
    Position,
    Span,
)
from tclint.lint import outcome as columns
from tclint.lint.codes import UNUSED_SUPPRESSION
from tclint.lint.outcome import FIX_COLUMNS, Outcome, Row
from tclint.lint.shards import Shard

_SAFETY = {None: 0, "display": 1, "unsafe": 2, "safe": 3}
Place = tuple[str, str, tuple[int, ...]]


def merged(parts: Sequence[tuple[Shard, Outcome]]) -> list[Row]:
    """The findings of all shards, each once.

    A function that several shards reach may be judged in each. The view of the shard that is the
    surest stands, preferring the one that holds the file; but the fix is only as safe as all agree.
    """
    if len(parts) == 1:
        return parts[0][1].findings
    silencing = {tuple(place) for _, outcome in parts for place in outcome.silencing}
    views: dict[Place, list[list[Row]]] = {}
    for rows in _by_preference(parts):
        for place, found in _by_place(rows).items():
            views.setdefault(place, []).append(found)
    agreed = (row for seen in views.values() for row in _agreed(seen))
    return [row for row in agreed if not _is_used_after_all(row, silencing)]


def _is_used_after_all(row: Row, silencing: Container[tuple[Any, ...]]) -> bool:
    """Whether a comment that silences nothing in its own shard does so in another."""
    if row[columns.CODE] != UNUSED_SUPPRESSION:
        return False
    return (row[columns.PATH], *row[columns.SPAN]) in silencing


def _by_preference(parts: Sequence[tuple[Shard, Outcome]]) -> Iterator[list[Row]]:
    """The findings in groups: sure ones first, then explicit ones, then those of own files."""
    groups: dict[tuple[bool, bool, bool, int], list[Row]] = {}
    for number, (shard, outcome) in enumerate(parts):
        own = {str(path) for path in shard}
        for row in outcome.findings:
            foreign = row[columns.PATH] not in own
            key = (not row[columns.IS_SURE], not row[columns.IS_EXPLICIT], foreign, number)
            groups.setdefault(key, []).append(row)
    return (groups[key] for key in sorted(groups))


def _by_place(rows: Iterable[Row]) -> dict[Place, list[Row]]:
    places: dict[Place, list[Row]] = {}
    for row in rows:
        place = (row[columns.PATH], row[columns.CODE], tuple(row[columns.SPAN]))
        places.setdefault(place, []).append(row)
    return places


def _agreed(views: Sequence[list[Row]]) -> Iterator[Row]:
    """The first view, with the most careful fix of all."""
    careful = min((row for rows in views for row in rows), key=_safety)
    return (_with_fix(row, careful) for row in views[0])


def _with_fix(row: Row, careful: Row) -> Row:
    """A finding with the fix of another view of it, where that one is more careful."""
    if _safety(careful) >= _safety(row):
        return row
    changed = [*row]
    for column in FIX_COLUMNS:
        changed[column] = careful[column]
    return changed


def _safety(row: Row) -> int:
    return _SAFETY[row[columns.FIXABLE]]


def diagnostic_of(row: Row, paths: Mapping[str, Path]) -> Diagnostic:
    """The finding that a row tells; ``paths`` are the files of the run by their names."""
    (
        path, code, span, name, message, effect, confidence, related, gb_ids, chain, fixable,
        fix_message, declined, url, *_,
    ) = row  # fmt: skip
    return Diagnostic(
        code,
        name,
        message,
        Effect(effect),
        Confidence(confidence),
        paths[path],
        _span(span),
        tuple(map(_span, related)),
        tuple(gb_ids),
        tuple(ChainLink(*link) for link in chain),
        Applicability(fixable) if fixable is not None else None,
        fix_message,
        Decline(declined) if declined is not None else None,
        url,
    )


def _span(corners: Sequence[Any]) -> Span:
    row, column, last_row, last_column = corners
    return Span(Position(row, column), Position(last_row, last_column))
