"""What ``tclint fix --verify`` keeps of rows that still break: fixes and settings, chosen.

Each row has a copy of the package of its own. The command gets the files that any tier changes
among those that the row loads, and a module that makes the row's model.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.repair.pool import OFFLINE
from benchmarks.repair.record import BEFORE, TREES, VERIFIED, VERIFIED_SETTINGS, Measured
from benchmarks.repair.rows import TRAIN, Row
from benchmarks.repair.tree import copy

MODULE = """\
from benchmarks.catalogues.build import build
from benchmarks.repair.rows import chosen


def make():
    (row,) = chosen({table!r}, [{name!r}])
    module, arguments = build(row.model, row.mode)
    return module, (), arguments
"""


@dataclass(frozen=True, slots=True)
class Kept:
    """Where rows are verified, and how: the copies and records, the interpreter, the limits."""

    root: Path
    folder: Path
    table: str
    python: Path
    target_torch: str
    runs: int
    seconds: float


def verified(
    rows: Sequence[Row], before: Mapping[str, Measured], how: Kept, workers: int
) -> Iterator[Measured]:
    """Each row as the command leaves it; rows that it does not get through are left out."""
    with ThreadPoolExecutor(workers) as pool:
        for one in pool.map(lambda row: _verified(row, before[row.name], how), rows):
            if one is not None:
                yield one


def module_of(row: Row, table: str, tree: Path) -> str:
    """Write a module that makes a row's model into a tree; its name."""
    name = f"made_{''.join(c if c.isalnum() else '_' for c in row.name)}"
    (tree / f"{name}.py").write_text(MODULE.format(table=table, name=row.name))
    return name


def _verified(row: Row, before: Measured, how: Kept) -> Measured | None:
    files = [file for file in sorted(before.loaded) if _is_changed(how.folder, file)]
    if not files:
        return None
    tree = how.folder / VERIFIED / row.name
    for package in sorted({file.partition("/")[0] for file in files}):
        copy(how.folder / BEFORE / package, tree)
    told = _fix(row, files, tree, how)
    if told is None:
        return None
    return _measure(row, tree, VERIFIED_SETTINGS if _has_settings(told) else VERIFIED, how)


def _is_changed(folder: Path, file: str) -> bool:
    """True where any tier's fixes change a file."""
    found = (folder / BEFORE / file).read_bytes()
    others = (folder / tree / file for tree in TREES)
    return any(other.exists() and other.read_bytes() != found for other in others)


def _fix(row: Row, files: Sequence[str], tree: Path, how: Kept) -> dict[str, object] | None:
    """Run the command in a tree; its report, None where it did not come to an end."""
    phase = "backward" if row.mode == TRAIN else "forward"
    command = [how.python, "-m", "tclint", "fix", "--isolated", "--exit-zero", "-j", "1"]
    command += ["--verify", "--no-speed", "--max-runs", str(how.runs), "--phase", phase]
    command += ["--unsafe-fixes", "--remedies", "settings", "--weak"]
    command += ["--target-torch", how.target_torch, "--output-format", "json"]
    command += [*files, f"{module_of(row, how.table, tree)}:make"]
    try:
        done = subprocess.run(
            command, cwd=tree, env=_environment(tree, how.root), capture_output=True,
            timeout=how.seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None
    if not done.stdout.startswith(b"{"):
        return None
    report: dict[str, object] = json.loads(done.stdout)
    return report


def _has_settings(report: Mapping[str, object]) -> bool:
    """True where the command keeps settings of Dynamo."""
    verification = report["verification"]
    steps = verification["worth"] if isinstance(verification, dict) else ()
    return any(step["kept"] and step["lines"] for step in steps)


def _measure(row: Row, tree: Path, arm: str, how: Kept) -> Measured | None:
    """Measure a row with its own tree, as the other arms are measured."""
    records = tree / "record.jsonl"
    command = [how.python, "-m", "benchmarks.repair.arm", arm, row.name, "--table", how.table]
    command += ["--folder", how.folder, "--records", records, "--workers", "1"]
    command += ["--time-limit", str(how.seconds)]
    subprocess.run(command, cwd=how.root, env=_environment(tree, how.root), check=True)
    lines = records.read_text().splitlines()
    return replace(Measured.from_json(json.loads(lines[-1])), arm=VERIFIED) if lines else None


def _environment(tree: Path, root: Path) -> dict[str, str]:
    path = os.pathsep.join([str(tree), str(root)])
    return {**os.environ, **OFFLINE, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
