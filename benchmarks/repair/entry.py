"""Where a child process starts: apart from the measuring, which the parent cannot import."""

from __future__ import annotations

from pathlib import Path

from benchmarks.repair.rows import Row


def run(row: Row, arm: str, folder: Path, inductor: bool, record: Path, log: Path) -> None:
    """Measure one row in this process."""
    from benchmarks.repair.child import answer

    answer(row, arm, folder, inductor, record, log)
