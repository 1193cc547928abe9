"""How far a fleet scales: the driver and its store with many stub units, and a simulated cluster.

Run: python -m benchmarks.fleet_scale --store FILE [--units 100000] [--markdown FILE]

The driver plans, hands out, and writes down real units; only their measuring is left out. The
makespan is simulated: units with measured times go, in the driver's order, to the first free GPU.
"""

from __future__ import annotations

import argparse
import heapq
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.fleet_gpus.told import TITLE
from tclint.fleet.board import board
from tclint.fleet.carry import Crew
from tclint.fleet.config import Arm, Measures
from tclint.fleet.environment import Environment
from tclint.fleet.plan import ArmFacts, Plan, Trees
from tclint.fleet.report.as_html import render
from tclint.fleet.session import Again, run_plan
from tclint.fleet.store import open_store
from tclint.fleet.units import BREAKS, WHOLE, BreakLine, CodeFile, Measured, Unit

ARMS = 5
TARGETS, GPUS = 10_000, 64
LINE = BreakLine(
    "package/models/model.py", 100, "GB0124", "Unsupported Tensor.item() call", "TCL101"
)
CODE = tuple(CodeFile(f"package/part{n}.py", f"{n:032x}") for n in range(60))
HEAD = """\
# How far a fleet scales

Measured by `python -m benchmarks.fleet_scale --store STORE`, which writes this page: the driver
with stub units, which do everything but run a model, and a simulated cluster with measured times.
"""


@dataclass(frozen=True, slots=True)
class Driven:
    """What the driver took: seconds, and bytes of memory and of the store."""

    units: int
    planned: float
    ran: float
    again: float
    reported: float
    memory: int
    store: int


class Stub:
    """A crew that is done at once; every fourth target breaks in three places."""

    def __init__(self) -> None:
        self._running: list[Unit] = []

    def has_room(self, unit: Unit) -> bool:
        """So many at a time as a cluster would take."""
        del unit
        return len(self._running) < 2 * GPUS

    def start(self, unit: Unit) -> None:
        """Take it."""
        self._running.append(unit)

    def wait(self) -> Sequence[tuple[Unit, Measured]]:
        """The last one, measured."""
        unit = self._running.pop()
        breaks = (LINE,) * 3 if int(unit.key, 16) // ARMS % 4 == 0 else ()
        outcome = BREAKS if breaks else WHOLE
        code = (*CODE, CodeFile(f"models/{unit.target}", unit.key))
        return ((unit, Measured(outcome, torch="2.13.0", device="cpu", breaks=breaks, code=code)),)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, simulate, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet_scale", description=__doc__)
    parser.add_argument("--units", type=int, default=100_000)
    parser.add_argument("--store", type=Path, required=True, help="a store with measured units")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args(argv)
    driven = drive(options.units)
    times = unit_times(options.store)
    text = page(driven, times)
    print(text)
    if options.markdown:
        options.markdown.write_text(text + measured_on_gpus(options.markdown))
    return 0


def measured_on_gpus(markdown: Path) -> str:
    """What ``benchmarks.fleet_gpus`` wrote at the end of the page stays there."""
    _, title, rest = (
        markdown.read_text().partition(f"\n{TITLE}\n") if markdown.exists() else ("",) * 3
    )
    return title + rest


def drive(count: int) -> Driven:
    """Run stub units through plan, store and report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        start = time.process_time()
        plan = make_plan(count, folder)
        planned = time.process_time() - start
        trees = Trees.__new__(Trees)  # no unit asks for a tree: all name their code
        with open_store(folder / "fleet.sqlite", create=True) as store:
            ran = timed(lambda: run_plan(plan, trees, store, crew, Again(), "", lambda *told: None))
            database = folder / "fleet.sqlite"
            size = sum(file.stat().st_size for file in folder.glob("fleet.sqlite*"))
            again = timed(lambda: sum(1 for _ in store.done(1)))
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            reported = timed(lambda: render(board(store)))
        with sqlite3.connect(database) as other:
            (kept,) = other.execute("SELECT count(*) FROM results").fetchone()
        assert kept == count
    return Driven(count, planned, ran, again, reported, memory, size)


@contextmanager
def crew(plan: Plan) -> Iterator[Crew]:
    """The stub."""
    del plan
    yield Stub()


def timed(call: object) -> float:
    """Seconds of processor time that a call takes: others may use the machine."""
    assert callable(call)
    start = time.process_time()
    call()
    return time.process_time() - start


def make_plan(count: int, folder: Path) -> Plan:
    """So many units, in five arms."""
    environment = Environment("3.11.0", "2.13.0")
    arms = tuple(ArmFacts(Arm(f"torch 2.{9 + n}"), environment) for n in range(ARMS))
    first = Unit("", "", "", "", "", str(folder), Measures())
    units = tuple(
        replace(
            first,
            key=f"{n:032x}",
            target=f"models/model{n // ARMS}.py:make",
            arm=arms[n % ARMS].arm.name,
            text=f"models/model{n // ARMS}.py:make",
        )
        for n in range(count)
    )
    return Plan(arms, units)


def unit_times(store: Path) -> list[float]:
    """Seconds of the units of a store that were measured."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        found = database.execute("SELECT seconds FROM results WHERE failure = ''")
        return [seconds for (seconds,) in found]


def makespan(times: Sequence[float], units: int, workers: int, driver: float) -> float:
    """Seconds until the last of the units is done, which the driver starts one after the other."""
    draw = random.Random(0)
    free = [0.0] * workers
    now = 0.0
    for _ in range(units):
        now = max(now + driver, heapq.heappop(free))
        heapq.heappush(free, now + draw.choice(times))
    return max(free)


def page(driven: Driven, times: Sequence[float]) -> str:
    """The page."""
    each = driven.ran / driven.units
    mean = sum(times) / len(times)
    rows = []
    for workers in (1, 8, 64, 256, 1024, 4096):
        seconds = makespan(times, TARGETS * ARMS, workers, each)
        ideal = TARGETS * ARMS * mean / workers
        rows.append(f"| {workers:,} | {seconds / 3600:.2f} | {ideal / seconds:.0%} |")
    limit = mean / each
    return f"""\
{HEAD}
## The driver

{driven.units:,} units, each with 60 files of code; one in four breaks at three lines. Times are CPU
time of one core.

| | |
| --- | ---: |
| handing out a unit and recording its result | {each * 1000:.2f} ms |
| all of them | {driven.ran:.0f} s |
| peak memory of the driver | {driven.memory / 2**20:.0f} MiB |
| the store | {driven.store / 2**20:.0f} MiB, {driven.store / driven.units:.0f} bytes a unit |
| reading back the results of a killed run | {driven.again:.2f} s |
| writing the report's page | {driven.reported:.1f} s |

## A cluster, simulated

{TARGETS:,} targets with {ARMS} versions of torch; a unit takes {mean:.1f} s on average
({min(times):.1f} to {max(times):.1f} s). The times are drawn at random from {len(times)} units
that were measured on two busy cores.

| GPUs | hours | efficiency |
| ---: | ---: | ---: |
{chr(10).join(rows)}

The driver is one process that records results one by one. Beyond about {limit:,.0f} GPUs, at
{mean:.1f} s a unit, they would wait for it. Below that the end of a run costs the most: the last
units run while other GPUs are idle.
"""


if __name__ == "__main__":
    sys.exit(main())
