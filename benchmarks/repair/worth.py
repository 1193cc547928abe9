"""What the fixes that rows keep are worth on this machine: launches and times, before and after.

Run: python -m benchmarks.repair.worth FOLDER --table others --device cuda [--rows NAME,NAME]

``FOLDER`` is one that ``benchmarks.repair --tiers`` has measured, or a copy of it: its trees of
sources, and the way that each row keeps. `tclint verify` runs both, in the interpreter that runs
this; the packages need not be installed in it, only what they import.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.repair.record import AFTER, BEFORE, KEPT, NAMED, Way
from benchmarks.repair.rows import TABLES, TRAIN, Row, chosen
from tclint.torch_facts.dynamo_settings import DYNAMIC_SHAPES, SCALARS
from tclint.verify.arms import Options, Side
from tclint.verify.compare import verify_sides
from tclint.verify.results import Arm, TargetReport
from tclint.verify.wire import plain

ROOT = Path(__file__).parents[2]
HEAD = (
    "model", "kept", "breaks", "graphs", "kernels, compiled", "launches, compiled",
    "ms, compiled", "ms, eager", "faster", "results",
)  # fmt: skip
FACTORY = """\
from benchmarks.models.build import build
from benchmarks.repair.rows import chosen


def make():
    (row,) = chosen({table!r}, [{name!r}])
    module, arguments = build(row.model, row.mode)
    return module, (), arguments
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Time each row with the sources before and after, and print a table."""
    options = _options(argv)
    kept: dict[str, str] = json.loads((options.folder / KEPT).read_text())
    rows = chosen(options.table, options.rows.split(",") if options.rows else [*kept])
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    for row in rows:
        report = _timed(row, NAMED[kept.get(row.name, AFTER)], options)
        if options.records:
            with options.records.open("a") as file:
                file.write(json.dumps({"row": row.name, **plain(report)}) + "\n")
        lines.append(_line(_cells(row, NAMED[kept.get(row.name, AFTER)], report)))
        print(lines[-1], file=sys.stderr, flush=True)
    print("\n".join(lines))
    return 0


def _timed(row: Row, way: Way, options: argparse.Namespace) -> TargetReport:
    sides = [
        _side("before", row, NAMED[BEFORE], options),
        _side("after", row, way, options),
    ]
    how = Options(
        phase="backward" if row.mode == TRAIN else "forward",
        device=options.device,
        time_limit=options.time_limit,
    )
    return verify_sides(row.name, sides, how)


def _side(name: str, row: Row, way: Way, options: argparse.Namespace) -> Side:
    """The sources of a way, with a module beside them that makes the row's model."""
    root = (options.folder / way.tree).resolve()
    module = f"made_{''.join(c if c.isalnum() else '_' for c in row.name)}"
    (root / f"{module}.py").write_text(FACTORY.format(table=options.table, name=row.name))
    settings = (SCALARS, DYNAMIC_SHAPES) if way.settings else ()
    return Side(name, f"{module}:make", root, settings=settings)


def _cells(row: Row, way: Way, report: TargetReport) -> Iterator[str]:
    arms = (report.arms[0], report.arms[-1])
    yield row.name
    yield way.name
    for told in (_breaks, _graphs, _kernels, _launches, _compiled_ms, _eager_ms):
        yield " → ".join(map(told, arms))
    speedup = report.speedups[0] if report.speedups else None
    yield f"{speedup.ratio:.2f} times" if speedup and speedup.ratio else "not measured"
    yield f"{report.equality.verdict} {report.equality.detail}".strip()[:160]


def _breaks(arm: Arm) -> str:
    return str(len(arm.probe.user_breaks)) if arm.probe else "-"


def _graphs(arm: Arm) -> str:
    return str(arm.probe.graphs) if arm.probe else "-"


def _kernels(arm: Arm) -> str:
    return str(arm.speed.kernels.run) if arm.speed and arm.speed.kernels else "-"


def _launches(arm: Arm) -> str:
    return str(arm.speed.kernels.launches) if arm.speed and arm.speed.kernels else "-"


def _compiled_ms(arm: Arm) -> str:
    return f"{arm.speed.compiled.median:.3g}" if arm.speed else "-"


def _eager_ms(arm: Arm) -> str:
    return f"{arm.speed.eager.median:.3g}" if arm.speed else "-"


def _line(cells: Sequence[str] | Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repair.worth", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--table", choices=TABLES, default="others")
    parser.add_argument("--rows", help="names of rows, comma-separated; all when left out")
    parser.add_argument("--device", choices=("cpu", "cuda"))
    parser.add_argument("--time-limit", type=float, default=300, help="seconds for each process")
    parser.add_argument("--records", type=Path, help="add what was measured, as JSON lines")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
