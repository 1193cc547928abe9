"""The public leaderboard: docs/leaderboard.md, the report of a fleet.

Run: python -m benchmarks.leaderboard [--store FILE] [--run NUMBER] [--fixed-run NUMBER]
     python -m benchmarks.leaderboard --sample 100 > benchmarks/sample.toml
     python -m benchmarks.leaderboard --broken [--store FILE] > benchmarks/broken.toml

A sample is drawn by a digest of the models' names: nobody chooses it, and a larger one contains it.
The models of it that break can be measured with their fixes in a run of their own.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from math import sqrt
from pathlib import Path

from tclint.fleet.board import Board, Row, board
from tclint.fleet.config import read_fleet
from tclint.fleet.report.as_markdown import table
from tclint.fleet.report.sections import Section, sections, share
from tclint.fleet.store import open_store
from tclint.fleet.targets import find_targets
from tclint.fleet.units import BREAKS, FAILED, NOTHING, WHOLE

HERE = Path(__file__).parent
FLEET = HERE / "leaderboard.toml"
STORE = HERE / "out" / "leaderboard.sqlite"
PAGE = HERE.parent / "docs" / "leaderboard.md"
TWO_SIGMA = 1.96


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or a fleet of a sample."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.leaderboard", description=__doc__)
    parser.add_argument("--store", type=Path, default=STORE)
    parser.add_argument("--run", type=int, help="the run; default: the last one")
    parser.add_argument("--fixed-run", type=int, help="a run of those that break, with fixes")
    parser.add_argument("--sample", type=int, help="print a fleet of so many models")
    parser.add_argument("--broken", action="store_true", help="print a fleet of those that break")
    options = parser.parse_args(argv)
    text = FLEET.read_text(encoding="utf-8")
    if options.sample:
        print(fleet_of(text, drawn(names(), options.sample)))
        return 0
    with open_store(options.store) as store:
        told = board(store, options.run)
        fixed = board(store, options.fixed_run) if options.fixed_run else None
    if options.broken:
        print(fleet_of(text, [row.target for row in told.rows if _breaks(row)]))
        return 0
    PAGE.write_text(page(told, fixed, names()), encoding="utf-8")
    return 0


def names() -> list[str]:
    """All models of the leaderboard."""
    return [target.name for target in find_targets(read_fleet(FLEET))]


def drawn(known: Iterable[str], count: int) -> list[str]:
    """So many models, by a digest of their names."""
    return sorted(known, key=lambda name: blake2b(name.encode()).digest())[:count]


def fleet_of(text: str, wanted: Iterable[str]) -> str:
    """The fleet of the leaderboard with some of its models."""
    head, *sources = text.split("[[target]]\n")
    made = [head]
    for source in sources:
        catalogue = source.split('"')[1]
        mine = sorted(name for name in wanted if name.startswith(f"{catalogue}/"))
        if mine:
            listed = "".join(f'    "{name}",\n' for name in mine)
            made.append(f'[[target]]\ncatalogue = "{catalogue}"\nonly = [\n{listed}]\n\n')
    return "".join(made).rstrip()


def page(told: Board, fixed: Board | None, known: Sequence[str]) -> str:
    """A run, with what it is of, and what fixes do where graphs break."""
    arms = " and ".join(f"torch {torch}" for torch in dict.fromkeys(_torches(told)))
    which = "all of them" if len(told.rows) == len(known) else "drawn by a digest of their names"
    parts = [_catalogues(told, known), *sections(replace(told, before=None))]
    if fixed is not None:
        parts[1:2] = [replace(one, title=f"{one.title}, those that break") for one in _fixed(fixed)]
    tables = "\n\n".join(map(table, parts))
    return f"""\
# Leaderboard

<!-- Written by `python -m benchmarks.leaderboard`; do not edit. -->

Which models compile as one graph, and why the others do not: {len(told.rows)} of the
{len(known)} models of the catalogues that tclint provides, {which}.
They are small, with random weights, in eval mode, on a CPU. Measured on {told.run.finished[:10]}
with {arms}. It is the output of [`tclint fleet`](fleet.md) for
`benchmarks/leaderboard.toml`, or for a part of it. Nothing is timed: a backend that only counts
graphs shows where they break.

{tables}
"""


def _fixed(told: Board) -> tuple[Section, ...]:
    """The arms, what the fixes are worth, and what becomes of each model."""
    titles = ("Arms", "What fixes are worth", "Targets")
    return tuple(section for section in sections(told) if section.title in titles)


def _breaks(row: Row) -> bool:
    return any(one is not None and one.outcome == BREAKS for one in row.cells)


def _catalogues(told: Board, known: Iterable[str]) -> Section:
    """What was measured of each catalogue, in the first arm."""
    of = Counter(name.partition("/")[0] for name in known)
    rows = [_catalogue(name, count, _of(told, name)) for name, count in of.items()]
    rows.append(_catalogue("all", of.total(), told.rows))
    head = ("catalogue", "models", "measured", "one graph", "95% interval", BREAKS, NOTHING, FAILED)
    title = f"Catalogues, {told.totals[0].arm.name}"
    return Section(title, head, tuple(rows), tuple(range(1, len(head))))


def _of(told: Board, catalogue: str) -> tuple[Row, ...]:
    return tuple(row for row in told.rows if row.target.startswith(f"{catalogue}/"))


def _catalogue(name: str, models: int, rows: Sequence[Row]) -> tuple[str, ...]:
    outcomes = Counter(row.cells[0].outcome for row in rows if row.cells[0] is not None)
    count = outcomes.total()
    counts = (str(outcomes[one]) for one in (BREAKS, NOTHING, FAILED))
    interval = _interval(outcomes[WHOLE], count) if 0 < count < models else ""
    whole = share(outcomes[WHOLE], count)
    return (name, str(models), str(count), whole, interval, *counts)


def _interval(part: int, of: int) -> str:
    """Wilson's interval of a share that was seen in a sample."""
    square = TWO_SIGMA**2
    middle = (part + square / 2) / (of + square)
    spread = TWO_SIGMA * sqrt(part * (of - part) / of + square / 4) / (of + square)
    return f"{middle - spread:.0%} to {middle + spread:.0%}"


def _torches(told: Board) -> list[str]:
    return [total.arm.torch for total in told.totals]


if __name__ == "__main__":
    sys.exit(main())
