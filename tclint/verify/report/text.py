"""Show people what a verification found: a table, and every remaining break."""

from __future__ import annotations

import io
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from tclint.printable import visible
from tclint.verify.budgets import recompile_count
from tclint.verify.complaints import complaints
from tclint.verify.report.details import details, did_not_run, only_graphs
from tclint.verify.report.numbers import UNKNOWN, milliseconds, sync_count
from tclint.verify.results import Arm, TargetReport

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
_NO_VALUE = {UNKNOWN, "→"}


def render(reports: Sequence[TargetReport], base: Path) -> str:
    """The report for people; file names are shown relative to ``base`` where possible."""
    parts = [_table([report for report in reports if _ran(report)])]
    parts += ["\n".join(details(report, base)) for report in reports]
    return "\n\n".join(filter(None, parts))


def _ran(report: TargetReport) -> bool:
    return any(arm.probe is not None for arm in report.arms)


def _table(reports: Sequence[TargetReport]) -> str:
    """What was measured: a line for each target, or for each number where there is one target."""
    from rich.console import Console
    from rich.table import Table

    rows = [[visible(cell) for cell in _row(report)] for report in reports]
    known = [
        (heading, [row[n] for row in rows])
        for n, heading in enumerate(_HEADINGS)
        if any({*row[n].split()} - _NO_VALUE for row in rows)
    ]
    if len({heading for heading, _ in known if heading.startswith("compiled ms")}) == 1:
        known = [(heading.removesuffix(" after"), cells) for heading, cells in known]
    table = Table(box=None, pad_edge=False, show_header=len(rows) > 1)
    if len(rows) == 1:
        known = [("", [heading for heading, _ in known]), ("", [cell for _, (cell,) in known])]
    for number, (heading, _) in enumerate(known):
        table.add_column(heading, overflow="fold", no_wrap=number == 0)
    for row in zip(*(cells for _, cells in known), strict=True):
        table.add_row(*row)
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else _UNBOUNDED
    buffer = io.StringIO()
    colours = terminal and not os.environ.get("NO_COLOR")
    Console(file=buffer, width=width, force_terminal=colours, markup=False, emoji=False).print(
        table
    )
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
