"""``--statistics``: how often each rule fired."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tclint.diagnostics import Applicability
from tclint.printable import json_text

if TYPE_CHECKING:
    from tclint.lint.engine import Run


def rows(run: Run) -> list[dict[str, object]]:
    """One row a rule, the most frequent first."""
    counts = Counter((r.diagnostic.code, r.diagnostic.name) for r in run.results)
    fixable = Counter(
        r.diagnostic.code for r in run.results if r.diagnostic.fixable is Applicability.SAFE
    )
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [
        {"code": code, "name": name, "count": number, "fixable": fixable[code]}
        for (code, name), number in ordered
    ]


def as_text(run: Run) -> str:
    """A table: count, code, whether any can be fixed, name."""
    table = rows(run)
    if not table:
        return ""
    wide = max(len(str(row["count"])) for row in table)
    codes = max(len(str(row["code"])) for row in table)
    lines = [
        f"{row['count']:>{wide}}  {row['code']:<{codes}}  {'[*]' if row['fixable'] else '[ ]'}"
        f"  {row['name']}"
        for row in table
    ]
    return "\n".join(lines) + "\n"


def as_json(run: Run) -> str:
    """The same rows as a JSON list."""
    return json_text(rows(run)) + "\n"
