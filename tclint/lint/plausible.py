"""Whether what a cache tells of a shard has the form that :mod:`tclint.lint.outcome` gives it.

A checksum keeps out what was damaged, not what somebody made up. What passes here may be untrue,
as whatever lies in a folder that others write to; but it makes no report and no fix stumble.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from typing import Any, Final

from tclint.diagnostics import Applicability, Confidence, Effect
from tclint.lint import outcome as columns

_NONE: Final = type(None)
_TEXT: Final = frozenset({str})
_TEXT_OR_NONE: Final = frozenset({str, _NONE})
_LIST: Final = frozenset({list})
_FLAG: Final = frozenset({bool})
_FINDING: Final = (
    _TEXT, _TEXT, _LIST, _TEXT, _TEXT, _TEXT, _TEXT, _LIST, _LIST, _LIST, _TEXT_OR_NONE,
    _TEXT_OR_NONE, _TEXT_OR_NONE, _TEXT_OR_NONE, frozenset({list, _NONE}), _FLAG, _FLAG,
)  # fmt: skip
"""The kinds of the columns of a finding."""
_LAST: Final = 10**9
"""No file has so many rows, and no row so many columns."""
_EFFECTS: Final = frozenset(effect.value for effect in Effect)
_CONFIDENCES: Final = frozenset(confidence.value for confidence in Confidence)
_SAFETIES: Final = frozenset(applicability.value for applicability in Applicability)
_NODES_OF: Final = frozenset({"before", "after", "replace", "argument"})


def is_plausible(outcome: Any, paths: Container[str]) -> bool:
    """Whether an :class:`Outcome` is one of a run over these files, by its form."""
    return (
        _are(outcome.findings, lambda row: _is_finding(row, paths))
        and _are(outcome.errors, lambda row: _is_error(row, paths))
        and _are(outcome.silencing, lambda row: _starts(row, 1) and _is_span(row[1:]))
        and type(outcome.searches) is str
        and type(outcome.lasting) is bool
        and type(outcome.excerpts) is dict
        and all(_are(lines, _is_line) for lines in outcome.excerpts.values())
    )


def _is_finding(row: Any, paths: Container[str]) -> bool:
    if type(row) is not list or len(row) != len(_FINDING):
        return False
    return (
        all(type(cell) in kinds for cell, kinds in zip(row, _FINDING, strict=True))
        and row[columns.PATH] in paths
        and row[columns.EFFECT] in _EFFECTS
        and row[columns.CONFIDENCE] in _CONFIDENCES
        and (row[columns.FIXABLE] is None or row[columns.FIXABLE] in _SAFETIES)
        and _is_span(row[columns.SPAN])
        and _are(row[columns.RELATED], _is_span)
        and all(type(name) is str for name in row[columns.GB_IDS])
        and _are(row[columns.CHAIN], _is_link)
        and (row[columns.REPAIR] is None or _is_repair(row[columns.REPAIR]))
    )


def _is_error(row: Any, paths: Container[str]) -> bool:
    if type(row) is not list or len(row) != 3 or not _starts(row, 2):
        return False
    return row[0] in paths and (row[2] is None or _is_span(row[2]))


def _is_repair(row: Any) -> bool:
    return (
        len(row) == 4
        and type(row[0]) is str
        and row[1] in _SAFETIES
        and (row[2] is None or type(row[2]) is str)
        and _are(row[3], _is_rewrite)
    )


def _is_rewrite(row: Any) -> bool:
    if type(row) is not list or not row or not _starts(row, 1):
        return False
    kind, *rest = row
    if kind == "import":
        return len(rest) == 2 and _is_code(rest[0]) and (rest[1] is None or _is_code(rest[1]))
    if kind == "splice":
        return len(rest) == 2 and _is_span(rest[0]) and _is_code(rest[1])
    if kind not in _NODES_OF or len(rest) != (4 if kind == "argument" else 3):
        return False
    place, template, parts, *keyword = rest
    return (
        _is_place(place)
        and _is_code(template)
        and type(parts) is dict
        and all(map(_is_place, parts.values()))
        and all(name is None or _is_code(name) for name in keyword)
    )


def _is_place(row: Any) -> bool:
    return _starts(row, 1) and _is_span(row[1:])


def _is_link(row: Any) -> bool:
    return _starts(row, 2) and len(row) == 3 and _is_name(row[1]) and _is_number(row[2])


def _is_code(text: Any) -> bool:
    """Whether it is text that a file of Python can hold."""
    if type(text) is not str:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_name(text: str) -> bool:
    """Whether a text can be the name of a file."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _is_line(row: Any) -> bool:
    return type(row) is list and len(row) == 2 and _is_number(row[0]) and type(row[1]) is str


def _is_span(row: Any) -> bool:
    if type(row) is not list or len(row) != 4:
        return False
    return all(map(_is_number, row)) and row[0] > 0 and row[2] > 0


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LAST


def _starts(row: Any, texts: int) -> bool:
    """Whether a list begins with so many texts."""
    return (
        type(row) is list and len(row) >= texts and all(type(text) is str for text in row[:texts])
    )


def _are(rows: Any, is_one: Callable[[Any], bool]) -> bool:
    return type(rows) is list and all(map(is_one, rows))
