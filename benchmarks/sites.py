"""Known break sites against tclint: of the lines in a table that broke, those with a finding.

The table is a CSV file with the columns ``file`` (relative to ROOT), ``line``, ``pattern`` and
``dynamo_reason``. Nothing is imported, only the source is read.

Run: python -m benchmarks.sites TABLE ROOT [--target-torch 2.10]
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.models.static import Predicted, predicted_breaks
from tclint.config import Config, with_overrides


@dataclass(frozen=True, slots=True)
class Site:
    """A line at which Dynamo broke a graph, and why."""

    file: str
    row: int
    pattern: str
    reason: str


def read_sites(table: Path) -> list[Site]:
    """The sites of a CSV file.

    Raises:
        ValueError: a column is missing or a line is not a number.
    """
    with table.open(newline="", encoding="utf-8") as file:
        try:
            return [
                Site(row["file"], int(row["line"]), row["pattern"], row["dynamo_reason"])
                for row in csv.DictReader(file)
            ]
        except KeyError as error:
            raise ValueError(f"{table}: no column {error}") from error


def missed(sites: Iterable[Site], predicted: Sequence[Predicted]) -> list[Site]:
    """The sites that no finding names."""
    rows = {(one.file, row) for one in predicted for row in one.named}
    return [site for site in sites if (site.file, site.row) not in rows]


def main(argv: Sequence[str] | None = None) -> int:
    """Check the files of the table, print recall by pattern and each miss with its source."""
    options = _options(argv)
    try:
        sites = read_sites(options.table)
    except (OSError, ValueError) as error:
        sys.exit(str(error))
    absent = sorted({s.file for s in sites if not (options.root / s.file).is_file()})
    if absent:
        sys.exit(f"not below {options.root}: {', '.join(absent[:3])}; is it the right version?")
    config = Config(options.root)
    if options.target_torch:
        config = with_overrides(config, target_torch=options.target_torch)
    predicted = predicted_breaks(options.root, {site.file for site in sites}, config)
    _report(sites, missed(sites, predicted), options.root)
    return 0


def _report(sites: Sequence[Site], missing: Sequence[Site], root: Path) -> None:
    found = len(sites) - len(missing)
    print(f"recall {found}/{len(sites)} ({found / max(len(sites), 1):.1%})")
    left = Counter(site.pattern for site in missing)
    for pattern, count in Counter(site.pattern for site in sites).most_common():
        print(f"  {count - left[pattern]:3}/{count:<3} {pattern}")
    for site in missing:
        line = (root / site.file).read_text("utf-8").splitlines()[site.row - 1].strip()
        print(f"missed {site.file}:{site.row}  {line}\n       {site.pattern}: {site.reason}")


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sites", description=__doc__)
    parser.add_argument("table", type=Path, help="the CSV file")
    parser.add_argument("root", type=Path, help="the folder that its paths start from")
    parser.add_argument("--target-torch", help="the torch that the breaks are those of")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
