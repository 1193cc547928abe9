"""Where a child process starts: apart from the measuring, which the parent cannot import."""

from __future__ import annotations

from pathlib import Path

from benchmarks.catalogues import Model


def run(model: Model, mode: str, record: Path, log: Path) -> None:
    """Measure one model in one mode in this process."""
    from benchmarks.models.child import answer

    answer(model, mode, record, log)
