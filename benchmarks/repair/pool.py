"""Run rows in child processes: some at a time, each with a time limit, with a progress bar."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.repair.record import Measured
from benchmarks.repair.rows import Row

# Forked from a process that has them already, a child needs not spend its time on imports.
PRELOADED = ("benchmarks.repair.preload",)
POLL_SECONDS = 0.1
BAR = 24
# The models are made here; nothing may be looked for on a network.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}


@dataclass(frozen=True, slots=True)
class Limits:
    """How many processes at a time, and the seconds that each may take."""

    workers: int
    seconds: float


@dataclass(frozen=True, slots=True)
class _Running:
    row: Row
    process: BaseProcess
    record: Path
    deadline: float


def measure_rows(
    rows: Sequence[Row], arm: str, folder: Path, limits: Limits, *, inductor: bool
) -> Iterator[Measured]:
    """Each row's record as soon as it is there; the package comes from ``sys.path``."""
    os.environ.update(OFFLINE)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    waiting, running, done = list(rows), list[_Running](), 0
    with tempfile.TemporaryDirectory() as scratch:
        while waiting or running:
            while waiting and len(running) < limits.workers:
                job = (waiting.pop(0), arm, folder, inductor)
                running.append(_start(context, job, Path(scratch), limits.seconds))
            time.sleep(POLL_SECONDS)
            for one in [one for one in running if _ended(one)]:
                running.remove(one)
                measured, done = _collect(one, arm), done + 1
                _show(done, len(rows), measured)
                yield measured


def _start(
    context: ForkServerContext, job: tuple[Row, str, Path, bool], scratch: Path, seconds: float
) -> _Running:
    from benchmarks.repair.entry import run

    row = job[0]
    record = scratch / f"{row.name}.json"
    log = job[2] / f"{row.name}.{job[1]}.log"
    process = context.Process(target=run, args=(*job, record, log))
    process.start()
    return _Running(row, process, record, time.monotonic() + seconds)


def _ended(one: _Running) -> bool:
    if one.process.is_alive() and time.monotonic() > one.deadline:
        one.process.kill()
        one.process.join()
    return not one.process.is_alive()


def _collect(one: _Running, arm: str) -> Measured:
    one.process.join()
    if one.record.exists():
        return Measured.from_json(json.loads(one.record.read_text()))
    late = time.monotonic() > one.deadline
    words = "took too long" if late else f"ended with status {one.process.exitcode}"
    return Measured(one.row.name, arm, one.row.model.cls, failure=words)


def _show(done: int, total: int, measured: Measured) -> None:
    filled = BAR * done // total
    told = measured.failure or f"{measured.breaks} breaks, {measured.seconds:.0f} s"
    line = f"[{'#' * filled}{'.' * (BAR - filled)}] {done}/{total} {measured.arm} {measured.row}"
    print(f"{line}: {told}", file=sys.stderr, flush=True)
