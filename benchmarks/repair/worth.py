"""What the fixes that rows keep are worth on this machine: launches and times, before and after.

Run: python -m benchmarks.repair.worth FOLDER --table others --device cuda [--rows NAME,NAME]
     [--records FILE]
     python -m benchmarks.repair.worth --recorded FILE --markdown PAGE

``FOLDER`` is one that ``benchmarks.repair --tiers`` has measured, or a copy of it: its trees of
sources, and the way that each row keeps. `tclint verify` runs both, in the interpreter that runs
this; the packages need not be installed in it, only what they import. What was recorded becomes a
section of a page.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.repair.record import AFTER, BEFORE, KEPT, NAMED, Way
from benchmarks.repair.rows import TABLES, TRAIN, Row, chosen
from benchmarks.repair.verified import module_of
from tclint.torch_facts.dynamo_settings import DYNAMIC_SHAPES, RECURRENT, SCALARS
from tclint.verify.arms import Options, Side
from tclint.verify.compare import verify_sides
from tclint.verify.results import Arm, TargetReport
from tclint.verify.speed import Speedup, Timing

ROOT = Path(__file__).parents[2]
HEAD = (
    "model", "kept", "graphs", "launches, compiled", "ms, compiled", "ms, eager", "faster",
    "results",
)  # fmt: skip
# The ways whose fixes are the same look the same: what they add is what a reader asks for.
_WAYS = {
    "after": "safe fixes",
    "unsafe": "unsafe fixes",
    "safe-settings": "settings",
    "settings": "unsafe fixes, settings",
    "safe-hatches": "escape hatches",
    "hatches": "unsafe fixes, escape hatches",
    "safe-hatches-settings": "escape hatches, settings",
    "hatches-settings": "unsafe fixes, escape hatches, settings",
}
_SECTION = """\
## What it is worth on an {device}

The rows as found, and as the last tier leaves them, by `tclint verify` with torch {torch} and its
default backend. Milliseconds are medians of a call with their quartiles, both sides in turns;
*faster* compares compiled code before and after, with 95% confidence; *not shown* is a difference
that the times scatter too much for. The models are tiny: a GPU waits for the host nearly all of the
time, which is what breaks cost. Other work ran on the host.

What a row keeps was chosen on a CPU. Where results are *different*, it does not hold on this
device: `tclint fix --verify` would not keep it there.

"""


@dataclass(frozen=True, slots=True)
class Half:
    """One side of a row: milliseconds are the median and the quartiles.

    They are None where nothing was timed; ``untimed`` says why.
    """

    graphs: int | None = None
    launches: int | None = None
    compiled: tuple[float, float, float] | None = None
    eager: tuple[float, float, float] | None = None
    untimed: str = ""


@dataclass(frozen=True, slots=True)
class Worth:
    """What one row was before and after; ``faster`` is the ratio of both and its bounds."""

    row: str
    way: str
    device: str
    torch: str
    before: Half
    after: Half
    faster: tuple[float, float, float] | None
    results: str

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Worth:
        """The inverse of ``asdict``, by way of JSON."""
        return cls(**{**data, "before": Half(**data["before"]), "after": Half(**data["after"])})


def main(argv: Sequence[str] | None = None) -> int:
    """Time each row with the sources before and after, and print a table."""
    options = _options(argv)
    if options.recorded:
        lines = options.recorded.read_text().splitlines()
        known = [Worth.from_json(json.loads(line)) for line in lines]
        print(section(known))
        if options.markdown:
            options.markdown.write_text(replaced(options.markdown.read_text(), section(known)))
        return 0
    found = [*_measured(options)]
    print("\n".join([_line(HEAD), _line(["---"] * len(HEAD)), *map(_row, found)]))
    return 0


def _measured(options: argparse.Namespace) -> Iterator[Worth]:
    """Each row's worth as soon as it is there."""
    kept: dict[str, str] = json.loads((options.folder / KEPT).read_text())
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    for row in chosen(options.table, options.rows.split(",") if options.rows else [*kept]):
        way = NAMED[kept.get(row.name, AFTER)]
        one = worth_of(row.name, way.name, _timed(row, way, options))
        if options.records:
            with options.records.open("a") as file:
                file.write(json.dumps(asdict(one)) + "\n")
        print(_row(one), file=sys.stderr, flush=True)
        yield one


def section(known: Sequence[Worth]) -> str:
    """What was recorded on one device, as Markdown."""
    (device,), (torch,) = {one.device for one in known}, {one.torch for one in known}
    table = "\n".join([_line(HEAD), _line(["---"] * len(HEAD)), *map(_row, known)])
    text = _SECTION.format(device=device, torch=torch.split("+")[0]) + table + "\n"
    notes = [
        f"- {one.row}, {side}: {half.untimed}."
        for one in known
        for side, half in (("as found", one.before), (_WAYS[one.way], one.after))
        if half.untimed
    ]
    return "\n".join([f"{text}\nNot timed:\n", *notes]) + "\n" if notes else text


def replaced(page: str, part: str) -> str:
    """The page with a section in the place of the one with the same heading, or at its end."""
    heading = re.escape(part.split("\n", maxsplit=1)[0])
    found = re.search(rf"^{heading}\n.*?(?=^## |\Z)", page, re.M | re.S)
    if found is None:
        return f"{page.rstrip()}\n\n{part}"
    behind = page[found.end() :]
    return page[: found.start()] + part + ("\n" if behind else "") + behind


def worth_of(row: str, way: str, report: TargetReport) -> Worth:
    """What a report says of a row's two sides."""
    arms = (report.arms[0], report.arms[-1])
    probe = next(arm.probe for arm in reversed(arms) if arm.probe is not None)
    speedup = report.speedups[0] if report.speedups else None
    return Worth(
        row=row,
        way=way,
        device=probe.device,
        torch=probe.torch,
        before=_half(arms[0]),
        after=_half(arms[1]),
        faster=_bounded(speedup) if speedup else None,
        results=f"{report.equality.verdict} {report.equality.detail}".strip()[:160],
    )


def _bounded(speedup: Speedup) -> tuple[float, float, float] | None:
    match speedup:
        case Speedup(ratio=float() as ratio, low=float() as low, high=float() as high):
            return ratio, low, high
    return None


def _half(arm: Arm) -> Half:
    graphs = arm.probe.graphs if arm.probe else None
    speed = arm.speed
    if speed is None:
        return Half(graphs, untimed=arm.no_speed)
    launches = speed.kernels.launches if speed.kernels else None
    return Half(graphs, launches, _quartiles(speed.compiled), _quartiles(speed.eager))


def _quartiles(timing: Timing) -> tuple[float, float, float]:
    return timing.median, timing.lower, timing.upper


def _timed(row: Row, way: Way, options: argparse.Namespace) -> TargetReport:
    sides = [
        _side("before", row, NAMED[BEFORE], options),
        _side("after", row, way, options),
    ]
    how = Options(
        phase="backward" if row.mode == TRAIN else "forward",
        device=options.device,
        time_limit=options.time_limit,
        rounds=options.rounds,
    )
    return verify_sides(row.name, sides, how)


def _side(name: str, row: Row, way: Way, options: argparse.Namespace) -> Side:
    """The sources of a way, with a module beside them that makes the row's model."""
    root = (options.folder / way.tree).resolve()
    module = module_of(row, options.table, root)
    settings = (SCALARS, DYNAMIC_SHAPES, RECURRENT) if way.settings else ()
    return Side(name, f"{module}:make", root, settings=settings)


def _row(one: Worth) -> str:
    halves = (one.before, one.after)
    timed = all(half.compiled for half in halves)
    faster = f"{_three(one.faster)} times" if one.faster else "not shown" if timed else "-"
    return _line(
        [
            one.row,
            _WAYS[one.way],
            *(
                " → ".join(told)
                for told in (
                    [_number(half.graphs) for half in halves],
                    [_number(half.launches) for half in halves],
                    [_three(half.compiled) for half in halves],
                    [_three(half.eager) for half in halves],
                )
            ),
            faster,
            one.results,
        ]
    )


def _number(number: int | None) -> str:
    return "-" if number is None else str(number)


def _three(numbers: tuple[float, float, float] | None) -> str:
    """A number and its bounds: ``1.42 (1.2 to 1.54)``."""
    if numbers is None:
        return "-"
    middle, low, high = (f"{number:.3g}" for number in numbers)
    return f"{middle} ({low} to {high})"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repair.worth", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", nargs="?")
    parser.add_argument("--table", choices=TABLES, default="others")
    parser.add_argument("--rows", help="names of rows, comma-separated; all when left out")
    parser.add_argument("--device", choices=("cpu", "cuda"))
    parser.add_argument("--time-limit", type=float, default=300, help="seconds for each process")
    parser.add_argument(
        "--rounds", type=int, default=Options().rounds, help="calls timed, in turns"
    )
    parser.add_argument("--records", type=Path, help="add what was measured, as JSON lines")
    parser.add_argument("--recorded", type=Path, help="measure nothing: tell what these lines say")
    parser.add_argument("--markdown", type=Path, help="put that into its section of this page")
    options = parser.parse_args(argv)
    if (options.folder is None) == (options.recorded is None):
        parser.error("name a FOLDER to measure, or --recorded FILE")
    return options


if __name__ == "__main__":
    sys.exit(main())
