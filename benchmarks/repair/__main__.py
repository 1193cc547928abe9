"""What ``tclint fix`` does to real models: graph breaks before and after, and is all else equal?

Run: python -m benchmarks.repair --table published --python .venv-repair/bin/python

The package's source is copied, fixed and put first on the path of the processes that measure.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.repair.record import (
    AFTER,
    BEFORE,
    KEPT,
    NAMED,
    SETTINGS,
    TIERS,
    UNSAFE,
    VERIFIED,
    WAYS,
    Measured,
)
from benchmarks.repair.report import INTRODUCTION, Report, is_better, page, text, tiers_table
from benchmarks.repair.rows import TABLES, Row, chosen
from benchmarks.repair.tree import Fixed, Installed, copy, fix, installed, joined
from benchmarks.repair.verified import Kept, verified

ROOT = Path(__file__).parents[2]
# What is not sure to break is worth a fix here: each row is compiled, and keeps what helps, as
# `fix --verify` does.
UNSURE = ("--weak",)
OPTIONS = {UNSAFE: ("--unsafe-fixes", *UNSURE)}
OUT = ROOT / "benchmarks" / "out" / "repair"


def main(argv: Sequence[str] | None = None) -> int:
    """Copy, fix, measure before and after, report; 1 when something is not equal."""
    options = _options(argv)
    try:
        rows = chosen(options.table, options.rows.split(",") if options.rows else [])
    except KeyError as error:
        sys.exit(f"the table {options.table} has no rows named {error.args[0]}")
    names = sorted({row.model.library for row in rows})
    try:
        packages = [installed(options.python, name) for name in names]
    except LookupError as error:
        sys.exit(str(error))
    title = _title(packages, options.table)
    folder = options.folder / title.replace(", ", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    for package in packages:
        if not (folder / BEFORE / package.folder.name).exists():
            copy(package.folder, folder / BEFORE)
    fixed = _fixed(folder, options)
    first = _measured(rows, BEFORE, folder, options)
    ran = [row for row in rows if first[row.name].failure is None]
    if options.broken_only:
        ran = [row for row in ran if first[row.name].breaks]
    report = Report(title, ran, first, _measured(ran, AFTER, folder, options), fixed)
    print(text(report))
    tiers = _tiers(report, folder, options) if options.tiers else ""
    print(tiers)
    if options.markdown:
        above = options.markdown.read_text() if options.append else INTRODUCTION
        options.markdown.write_text("\n".join([above, page(report), *([tiers] if tiers else [])]))
    return 0 if report.sound else 1


def _title(packages: Sequence[Installed], table: str) -> str:
    """The one package with its version and the table; other packages are told by the rows."""
    if table == "others":
        return "other packages"
    (package,) = packages
    return f"{package.folder.name} {package.version}, {table}"


def _tiers(report: Report, folder: Path, options: argparse.Namespace) -> str:
    """What more than safe fixes does: to rows that still break, and where it keeps all else."""
    kept = dict(report.after)
    arms = {AFTER: dict(kept)}
    for tier in TIERS[1 : TIERS.index(options.tiers) + 1]:
        for way in (way for way in WAYS if way.tier == tier):
            left = [row for row in report.rows if kept[row.name].failure is None]
            left = [row for row in left if kept[row.name].breaks]
            if left:
                _fixed(folder, options, way.tree)
                more = _measured(left, way.name, folder, options)
                kept |= {name: one for name, one in more.items() if is_better(one, kept.get(name))}
        if tier == VERIFIED:
            kept |= _verified(report, kept, folder, options)
        arms[tier] = dict(kept)
    found = {name: one.arm for name, one in kept.items()}
    (folder / KEPT).write_text(json.dumps(found, indent=1))
    return tiers_table(report, arms)


def _verified(
    report: Report, kept: Mapping[str, Measured], folder: Path, options: argparse.Namespace
) -> dict[str, Measured]:
    """The rows that still break and break less as ``tclint fix --verify`` leaves them."""
    left = [row for row in report.rows if kept[row.name].failure is None and kept[row.name].breaks]
    release, limit = _release(options.python), options.time_limit * 10
    how = Kept(ROOT, folder, options.table, options.python, release, options.max_runs, limit)
    found = {one.row: one for one in verified(left, report.before, how, options.workers)}
    return {name: one for name, one in found.items() if is_better(one, kept.get(name))}


def _release(python: Path) -> str:
    """The release of torch that measures: ``2.13``."""
    return ".".join(installed(python, "torch").version.split(".")[:2])


def _fixed(folder: Path, options: argparse.Namespace, tier: str = AFTER) -> Fixed:
    """What fixing came to; done again when tclint or the choice of files has changed."""
    name = "fixed.json" if tier == AFTER else f"fixed-{tier}.json"
    record, only = folder / name, options.files.split(",") if options.files else []
    stamp = hashlib.sha256(repr(only).encode())
    for name in ("tclint", "rules"):
        for file in sorted((ROOT / name).rglob("*.py")):
            stamp.update(file.read_bytes())
    known = json.loads(record.read_text()) if record.exists() else {}
    if known.get("stamp") == stamp.hexdigest() or (known and options.keep_fixed):
        return Fixed.from_json(known["fixed"])
    done = joined(_fix_each(folder, tier, only, options.python))
    record.write_text(json.dumps({"stamp": stamp.hexdigest(), "fixed": done.to_json()}))
    return done


def _fix_each(folder: Path, tier: str, only: Sequence[str], python: Path) -> Iterator[Fixed]:
    """Fix each package for the torch that measures it.

    One without any of the files asked for is only copied.
    """
    release = _release(python)
    for before in sorted((folder / BEFORE).iterdir()):
        mine = [name for name in only if name.startswith(f"{before.name}/")]
        if only and not mine:
            copy(before, folder / tier)
        else:
            more = ("--target-torch", release, *OPTIONS.get(tier, ()))
            yield fix(before, folder / tier / before.name, python, mine, more)


def _measured(
    rows: Sequence[Row], arm: str, folder: Path, options: argparse.Namespace
) -> dict[str, Measured]:
    """The records of all rows; those are measured whose files have changed, and those that failed.

    Before fixing, a row that failed is left alone: it will not run afterwards either.
    """
    way = NAMED[arm]
    records, tree = folder / f"{arm}.jsonl", folder / way.tree
    known = _known(records)
    for other in WAYS[: WAYS.index(way)]:
        if other.settings == way.settings:
            known |= _unchanged(_known(folder / f"{other.name}.jsonl"), arm, tree)
    due = [row for row in rows if not _is_valid(row, known.get(row.name), tree, options)]
    if due:
        limits = ["--workers", str(options.workers), "--time-limit", str(options.time_limit)]
        command = [options.python, "-m", "benchmarks.repair.arm", arm, *(row.name for row in due)]
        places = ["--table", options.table, "--folder", folder, "--records", records]
        inductor = ["--inductor"] * (options.inductor and arm == AFTER)
        path = os.pathsep.join([str(tree), str(ROOT)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(
            [*command, *places, *limits, *inductor], check=True, env=environment, cwd=ROOT
        )
    now = _known(records)
    return known | {row.name: now[row.name] for row in due}


def _unchanged(before: Mapping[str, Measured], arm: str, tree: Path) -> dict[str, Measured]:
    """Rows none of whose files differ: measured before is measured afterwards."""
    return {
        name: replace(one, arm=arm)
        for name, one in before.items()
        if one.failure is None and _is_same(one, tree)
    }


def _known(records: Path) -> dict[str, Measured]:
    lines = records.read_text().splitlines() if records.exists() else []
    return {one.row: one for one in map(Measured.from_json, map(json.loads, lines))}


def _is_valid(row: Row, known: Measured | None, tree: Path, options: argparse.Namespace) -> bool:
    if known is None or known.cls != row.model.cls:
        return False
    if options.inductor and known.arm == AFTER and known.fullgraph and not known.inductor:
        return False
    if known.failure is not None:
        return known.arm == BEFORE
    return _is_same(known, tree)


def _is_same(known: Measured, tree: Path) -> bool:
    return all(
        hashlib.sha256((tree / file).read_bytes()).hexdigest()[:16] == digest
        for file, digest in known.loaded.items()
    )


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.repair", description=__doc__)
    parser.add_argument("--table", choices=TABLES, default="published")
    parser.add_argument("--rows", help="names of rows, comma-separated; all when left out")
    parser.add_argument(
        "--broken-only", action="store_true", help="leave out rows that compile whole"
    )
    parser.add_argument("--python", type=Path, default=Path(sys.executable))
    parser.add_argument("--folder", type=Path, default=OUT, help="copies and records")
    parser.add_argument("--files", help="fix only these files of the package, comma-separated")
    parser.add_argument("--keep-fixed", action="store_true", help="do not fix again")
    parser.add_argument("--inductor", action="store_true", help="run the default backend too")
    parser.add_argument(
        "--tiers",
        nargs="?",
        choices=TIERS[1:],
        const=SETTINGS,
        help="also with unsafe fixes and settings of Dynamo; up to which",
    )
    parser.add_argument("--max-runs", type=int, default=60, help="of each `fix --verify`")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds for each process")
    parser.add_argument("--markdown", type=Path, help="write the report")
    parser.add_argument("--append", action="store_true", help="below what the page says already")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
