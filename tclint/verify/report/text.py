"""Show people what a verification found: a table, and every remaining break."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.printable import visible
from tclint.verify.budgets import recompile_count
from tclint.verify.complaints import complaints
from tclint.verify.report.details import details, did_not_run, only_graphs
from tclint.verify.report.numbers import UNKNOWN, milliseconds, sync_count
from tclint.verify.results import Arm, TargetReport

if TYPE_CHECKING:
    from rich.table import Table

Cell = Callable[[Arm], str]

_HEADINGS = (
    "target",
    "breaks",
    "graphs",
    "recompiles",
    "syncs eager",
    "syncs compiled",
    "equal",
    "eager ms",
    "compiled ms before",
    "compiled ms after",
    "cold start",
    "verdict",
)
_WORST_FIRST = ("different", "not-deterministic", "unknown", "close", "identical")
# Wide enough for every row: what is not a terminal is read by programs or scrolled.
_UNBOUNDED = 400
_GAP = 2
"""Columns between two of a table."""
_NO_VALUE = {UNKNOWN, "→"}


def render(reports: Sequence[TargetReport], base: Path) -> str:
    """The report for people; file names are shown relative to ``base`` where possible."""
    parts = [_table([report for report in reports if _ran(report)])]
    parts += ["\n".join(details(report, base)) for report in reports]
    return "\n\n".join(filter(None, parts))


def _ran(report: TargetReport) -> bool:
    return any(arm.probe is not None for arm in report.arms)


def _table(reports: Sequence[TargetReport]) -> str:
    """What was measured: a line for each target, or for each number where that is too wide."""
    columns = _columns([[visible(cell) for cell in _row(report)] for report in reports])
    if not columns:
        return ""
    heads = [heading for heading, _ in columns]
    rows = [*zip(*(cells for _, cells in columns), strict=True)]
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _UNBOUNDED
    colours = terminal and not os.environ.get("NO_COLOR")
    if len(rows) > 1 and _widest(rows, heads) <= width:
        return _printed(_aligned(rows, heads), width, colours=colours)
    pairs = (_aligned([*zip(heads, row, strict=True)]) for row in rows)
    return "\n\n".join(_printed(table, width, colours=colours) for table in pairs)


def _columns(rows: Sequence[Sequence[str]]) -> list[tuple[str, list[str]]]:
    """The headings of which something is known, each with a cell for each row."""
    known = [
        (heading, [row[n] for row in rows])
        for n, heading in enumerate(_HEADINGS)
        if any({*row[n].split()} - _NO_VALUE for row in rows)
    ]
    if len({heading for heading, _ in known if heading.startswith("compiled ms")}) == 1:
        known = [(heading.removesuffix(" after"), cells) for heading, cells in known]
    return known


def _aligned(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> Table:
    """Rows below their headings, or without any; the first column is never broken."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=bool(heads))
    for number, heading in enumerate(heads or [""] * len(rows[0])):
        table.add_column(heading, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*row)
    return table


def _widest(rows: Sequence[Sequence[str]], heads: Sequence[str]) -> int:
    """Columns that a table takes in which nothing is broken."""
    from rich.cells import cell_len

    columns = zip(heads, *rows, strict=True)
    return sum(max(map(cell_len, column)) + _GAP for column in columns) - _GAP


def _printed(table: Table, width: int, *, colours: bool) -> str:
    from rich.console import Console

    buffer = io.StringIO()
    console = Console(file=buffer, width=width, force_terminal=colours, markup=False, emoji=False)
    console.print(table)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines())


def _row(report: TargetReport) -> tuple[str, ...]:
    last = report.arms[-1]
    eager = next((arm.speed.eager for arm in report.arms if arm.speed), None)
    before = report.arms[0] if len(report.arms) > 1 else None
    return (
        report.target,
        _both(report, lambda arm: str(len(arm.probe.user_breaks)) if arm.probe else UNKNOWN),
        _both(report, lambda arm: str(arm.probe.graphs) if arm.probe else UNKNOWN),
        _both(report, lambda arm: str(recompile_count(arm)) if arm.probe else UNKNOWN),
        _both(report, lambda arm: sync_count(arm.probe.syncs if arm.probe else None)),
        _both(report, lambda arm: sync_count(arm.speed.syncs if arm.speed else None)),
        equal(report),
        milliseconds(eager),
        milliseconds(before.speed.compiled if before and before.speed else None),
        milliseconds(last.speed.compiled if last.speed else None),
        _both(report, lambda arm: f"{arm.speed.cold_start:.1f} s" if arm.speed else UNKNOWN),
        verdict(report),
    )


def verdict(report: TargetReport) -> str:
    """One word on the target: what the exit code says of it."""
    if any(arm.failure is not None for arm in report.arms):
        return did_not_run(report)
    return "failed" if complaints(report) else "passed"


def equal(report: TargetReport) -> str:
    """The verdict on the results of the whole target, those of real compilation among them."""
    numbers = [one.like_eager for one in report.after.numbers]
    seen = [report.equality.verdict, *(one.verdict for one in numbers if one.equal is not None)]
    worst = next((verdict for verdict in _WORST_FIRST if verdict in seen), seen[0])
    return f"{worst} (eager graphs)" if only_graphs(report) else worst


def _both(report: TargetReport, cell: Cell) -> str:
    return " → ".join(cell(arm) for arm in report.arms)
