"""Measure many models, each in a process of its own, some at a time, resuming where it stopped."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from benchmarks.catalogues import Model
from benchmarks.models.record import Measured, failed

# Forked from a process that has them already, a child needs not spend its time on imports.
PRELOADED = ("benchmarks.models.preload",)
POLL_SECONDS = 0.05
# The models are made here; nothing may be looked for on a network.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_VERBOSITY": "error"}

Job = tuple[Model, str]


@dataclass(frozen=True, slots=True)
class _Running:
    job: Job
    process: BaseProcess
    record: Path
    log: Path
    deadline: float


def measure_all(
    jobs: Sequence[Job], workers: int, time_limit: float, resume: Path | None
) -> list[Measured]:
    """A record for every job, in their order; ``resume`` holds those of earlier runs.

    What failed then is tried again, and so is what was measured of another class.
    """
    classes = {model.name: model.cls for model, _ in jobs}
    earlier = (one for one in _earlier(resume) if classes.get(one.model) == one.cls)
    known = {(one.model, one.mode): one for one in earlier}
    waiting = [job for job in jobs if (job[0].name, job[1]) not in known]
    for done, measured in enumerate(_run(waiting, workers, time_limit), 1):
        known[measured.model, measured.mode] = measured
        if resume is not None:
            with resume.open("a") as file:
                file.write(json.dumps(measured.to_json()) + "\n")
        print(f"[{done}/{len(waiting)}] {_progress(measured)}", file=sys.stderr, flush=True)
    return [known[model.name, mode] for model, mode in jobs]


def _earlier(resume: Path | None) -> Iterator[Measured]:
    if resume is not None and resume.exists():
        for line in resume.read_text().splitlines():
            measured = Measured.from_json(json.loads(line))
            if measured.failure is None:
                yield measured


def _run(jobs: Iterable[Job], workers: int, time_limit: float) -> Iterator[Measured]:
    os.environ.update(OFFLINE)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    waiting, running = list(jobs), list[_Running]()
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(_start(context, waiting.pop(0), Path(folder), time_limit))
            time.sleep(POLL_SECONDS)
            for one in [one for one in running if _ended(one)]:
                running.remove(one)
                yield _collect(one)


def _start(context: ForkServerContext, job: Job, folder: Path, time_limit: float) -> _Running:
    from benchmarks.models.entry import run

    model, mode = job
    record, log = folder / f"{model.name}-{mode}.json", folder / f"{model.name}-{mode}.log"
    process = context.Process(target=run, args=(model, mode, record, log))
    process.start()
    return _Running(job, process, record, log, time.monotonic() + time_limit)


def _ended(one: _Running) -> bool:
    if one.process.is_alive() and time.monotonic() > one.deadline:
        one.process.kill()
        one.process.join()
    return not one.process.is_alive()


def _collect(one: _Running) -> Measured:
    one.process.join()
    if one.record.exists():
        return Measured.from_json(json.loads(one.record.read_text()))
    model, mode = one.job
    late = time.monotonic() > one.deadline
    words = "took too long" if late else f"ended with status {one.process.exitcode}"
    return failed(model.name, model.cls, mode, words)


def _progress(measured: Measured) -> str:
    told = measured.failure or (
        f"{measured.graphs} graphs, {len(measured.breaks)} break lines, {measured.seconds:.0f} s"
    )
    return f"{measured.model} {measured.mode}: {told}"
