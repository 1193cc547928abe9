"""The page with the figures: each run writes the rows of the kinds that it tried."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.attack.totals import Total

INTRODUCTION = """\
# The attack

<!-- Written by `make attack`; do not edit. -->

`make attack` tries to break tclint in every way that its authors could think of. It feeds it broken
and hostile programs, repositories, recordings and messages, and the answers of a hostile
GitHub or GitLab; it kills runs and damages caches. `SECURITY.md` and the top of each file of
`benchmarks/attack/` say what is promised in each case. Each input follows from its number, so that
a failure can be repeated: `python -m benchmarks.attack --only KIND --seed N --first K --count 1`.

| kind | what is tried | inputs | failures | observed |
| --- | --- | --- | --- | --- |
"""


def write(path: Path, totals: Sequence[Total]) -> None:
    """Write the rows of some kinds, and leave the others as they are."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    rows = {line.split("|")[1].strip(): line for line in lines if line.startswith("| `")}
    for total in totals:
        rows[f"`{total.kind.name}`"] = (
            f"| `{total.kind.name}` | {total.kind.about.rstrip('.')} | {total.tried:,} "
            f"| {total.failures:,} | {total.sorts} |"
        )
    path.write_text(INTRODUCTION + "".join(f"{row}\n" for row in rows.values()), "utf-8")
