"""``tclint fix --statistics``: what became of the findings, by rule and by reason."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

from tclint.printable import json_text
from tclint.records import record
from tclint.report.fixes.outcome import Status

if TYPE_CHECKING:
    from tclint.report.fixes.outcome import Outcome

_COLUMNS = ("fixed", "dropped", "declined", "left")


@record()
class Row:
    """One rule: ``left`` counts findings whose fix was not asked for, or that never have one.

    ``reasons`` are those of what was declined or dropped.
    """

    name: str
    fixed: int = 0
    dropped: int = 0
    declined: int = 0
    left: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def rows(outcome: Outcome) -> dict[str, Row]:
    """The rows by code, in order."""
    table: dict[str, Row] = {}
    for one in outcome.fixes:
        if one.fix.settles:
            for settled in one.fix.settles:
                table.setdefault(settled.code, Row(settled.name)).fixed += 1
            continue
        row = table.setdefault(one.fix.diagnostic.code, Row(one.fix.diagnostic.name))
        if one.status is not Status.DROPPED:
            row.fixed += 1
            continue
        row.dropped += 1
        if one.reason is not None:
            row.reasons[one.reason.text] += 1
    for result in outcome.remaining.results:
        diagnostic = result.diagnostic
        row = table.setdefault(diagnostic.code, Row(diagnostic.name))
        if diagnostic.declined is None:
            row.left += 1
        else:
            row.declined += 1
            row.reasons[diagnostic.declined.reason] += 1
    for row in table.values():
        row.left -= min(row.left, row.dropped)  # what was dropped is found again
    return dict(sorted(table.items()))


def as_text(outcome: Outcome) -> str:
    """A table, then the reasons with the most frequent first."""
    table = rows(outcome)
    if not table:
        return ""
    lines = ["".join(f"{name:>9}" for name in _COLUMNS)]
    lines += [
        "".join(f"{getattr(row, name):>9}" for name in _COLUMNS) + f"  {code}  {row.name}"
        for code, row in table.items()
    ]
    reasons = Counter({(c, text): n for c, row in table.items() for text, n in row.reasons.items()})
    if reasons:
        lines.append("\nNot fixed because:")
        lines += [f"{number:>9}  {code}  {text}" for (code, text), number in reasons.most_common()]
    return "\n".join(lines) + "\n"


def as_json(outcome: Outcome) -> str:
    """The same as a list of objects."""
    listed = [
        {
            "code": code,
            "name": row.name,
            **{column: getattr(row, column) for column in _COLUMNS},
            "reasons": [
                {"text": text, "count": number} for text, number in row.reasons.most_common()
            ],
        }
        for code, row in rows(outcome).items()
    ]
    return json_text(listed) + "\n"
