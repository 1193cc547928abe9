"""The public leaderboard: docs/leaderboard.md, the report of a fleet's last run.

Run: python -m benchmarks.leaderboard [--store FILE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tclint.fleet.board import Board, board
from tclint.fleet.report.as_markdown import table
from tclint.fleet.report.sections import sections
from tclint.fleet.store import open_store

HERE = Path(__file__).parent
STORE = HERE / "out" / "leaderboard.sqlite"
PAGE = HERE.parent / "docs" / "leaderboard.md"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__)
    parser.add_argument("--store", type=Path, default=STORE)
    options = parser.parse_args(argv)
    with open_store(options.store) as store:
        PAGE.write_text(page(board(store)), encoding="utf-8")
    return 0


def page(told: Board) -> str:
    """The last run, with what it is of."""
    arms = " and ".join(f"torch {torch}" for torch in dict.fromkeys(_torches(told)))
    libraries = ", ".join(dict.fromkeys(row.target.partition("/")[0] for row in told.rows))
    tables = "\n\n".join(table(section) for section in sections(told))
    return f"""\
# Leaderboard

<!-- Written by `python -m benchmarks.leaderboard`; do not edit. -->

Which models compile whole, and why the others do not: {len(told.rows)} tiny models with random
weights, of {libraries}, measured on {told.run.finished[:10]} with {arms}. It is the output of
[`tclint fleet`](fleet.md) for `benchmarks/leaderboard.toml`, or for a part of it. Nothing is timed:
a backend that only counts graphs shows where they break.

{tables}
"""


def _torches(told: Board) -> list[str]:
    return [total.arm.torch for total in told.totals]


if __name__ == "__main__":
    sys.exit(main())
