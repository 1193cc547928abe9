"""What ``tclint fleet`` does between its options and its exit code."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from tclint.cli.report_file import require_report, write_report
from tclint.cli.terminal import note, write
from tclint.cli.verifying import orderly_end, require_torch
from tclint.fleet.board import Board, find_run
from tclint.fleet.changes import Change, Kind, arm_changes, changes
from tclint.fleet.config import Fleet, FleetError, read_fleet
from tclint.fleet.plan import Plan
from tclint.fleet.report import as_markdown, as_text
from tclint.fleet.report.as_json import change_data
from tclint.fleet.report.sections import cell, change_section
from tclint.fleet.store import Store, UnitRow
from tclint.printable import json_text, printable

if TYPE_CHECKING:
    from tclint.fleet.session import Again, CrewFor
    from tclint.fleet.units import Measured, Unit


def carry_out(file: Path, jobs: int, again: Again, label: str) -> None:
    """Run a fleet; each unit that is done gets a line on standard error."""
    from tclint.fleet.session import run_fleet

    require_torch()
    fleet = read_fleet(file)
    with orderly_end():
        ran = run_fleet(fleet, crew_maker(fleet, jobs), again, label, _told)
    note(f"run {ran.run} in {fleet.store}: {ran.measured} measured, {ran.known} known before")


def crew_maker(fleet: Fleet, jobs: int) -> CrewFor:
    """What makes the executor once the machine is known."""
    from tclint.fleet.local import LocalCrew
    from tclint.fleet.session import visible_gpus

    def make(plan: Plan) -> LocalCrew:
        gpus = min(len(one.environment.gpus) for one in plan.arms)
        return LocalCrew(jobs or fleet.jobs or os.cpu_count() or 1, visible_gpus(gpus))

    return make


def output(text: str, file: Path | None) -> None:
    """Print a report, or write it to a file."""
    if file is None:
        write(text)
        return
    require_report("--output-file", file)
    write_report(file, text)


def rendered(board: Board, output_format: str) -> str:
    """A board in one of the formats."""
    module = import_module(f"tclint.fleet.report.as_{output_format}")
    text: str = module.render(board)
    return printable(text)


def difference(
    store: Store, before: str, after: str, output_format: str
) -> tuple[list[Change], str]:
    """What changed from one side to the other, and the text that says it."""
    old, old_arm = _side(store, before)
    new, new_arm = _side(store, after)
    if bool(old_arm) != bool(new_arm):
        raise FleetError(f"{before} and {after}: name an arm on both sides, or on none")
    pair = old_arm if old_arm == new_arm else f"{old_arm} → {new_arm}"
    found = arm_changes(old, new, pair) if old_arm else changes(old, new)
    if missing := sum(unit.measured is None for unit in (*old, *new)):
        note(f"{missing} unit{'' if missing == 1 else 's'} not measured yet: left out")
    if output_format == "json":
        return found, json_text([change_data(one) for one in found]) + "\n"
    if not found:
        return found, "nothing changed\n"
    worse, better = (sum(one.kind is kind for one in found) for kind in (Kind.WORSE, Kind.BETTER))
    title = f"{before} → {after}: {worse} worse, {better} better"
    section = change_section(title, found)
    table = as_markdown.table(section) if output_format == "markdown" else as_text.table(section)
    return found, printable(f"{table}\n")


def _side(store: Store, text: str) -> tuple[tuple[UnitRow, ...], str]:
    """The units that one side of a comparison names, and the arm where it names one."""
    number, _, arm = text.partition(":")
    if number and number != "last" and not number.isdigit():
        raise FleetError(f"{text!r} names no run: write a number or `last`, with :ARM for one arm")
    run = find_run(store.runs(), int(number) if number.isdigit() else None)
    if arm and arm not in {one.name for one in store.arms(run.id)}:
        known = ", ".join(one.name for one in store.arms(run.id))
        raise FleetError(f"run {run.id} has no arm {arm!r}; it has {known}")
    units = store.units(run.id)
    return tuple(unit for unit in units if not arm or unit.arm == arm), arm


def _told(done: int, of: int, unit: Unit, measured: Measured) -> None:
    reason = f": {measured.reason}" if measured.reason else ""
    note(f"[{done}/{of}] {unit.target}, {unit.arm}: {cell(measured)}{reason}")
