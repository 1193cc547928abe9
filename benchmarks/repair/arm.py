"""Measure rows with the package that comes first on the path, as one arm.

Run by ``benchmarks.repair`` with the interpreter that has torch and the package's dependencies.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.repair.pool import Limits, measure_rows
from benchmarks.repair.record import NAMED
from benchmarks.repair.rows import TABLES, chosen


def main() -> int:
    """Append one JSON line for each row to ``--records``."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repair.arm", description=__doc__)
    parser.add_argument("arm", choices=NAMED)
    parser.add_argument("rows", nargs="+")
    parser.add_argument("--table", choices=TABLES, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="weights, results and logs")
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--workers", type=int, required=True)
    parser.add_argument("--time-limit", type=float, required=True)
    parser.add_argument("--inductor", action="store_true")
    options = parser.parse_args()
    rows = chosen(options.table, options.rows)
    limits = Limits(options.workers, options.time_limit)
    for measured in measure_rows(
        rows, options.arm, options.folder, limits, inductor=options.inductor
    ):
        with options.records.open("a") as file:
            file.write(json.dumps(measured.to_json()) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
