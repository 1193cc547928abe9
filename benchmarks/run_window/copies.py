"""Runs the arms as copies of one process that has torch imported, a batch at a time.

While one copy makes its steps all others wait, and nothing is started or imported. Runs in the
environment of the scripts: ``python -m benchmarks.run_window.copies TOLD``.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import os
import random
import runpy
import shutil
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from benchmarks.run_window.clocks import Clocks

_STARTED, _TIMED = 60, 45
"""Seconds until all are ready, and until all have made their steps."""
_LOOKS = 0.05

Job = Mapping[str, Any]


def run(told: Job, folder: Path) -> None:
    """Batch after batch until the time is over, each of one script; the rows are kept."""
    jobs, until = told["jobs"], time.monotonic() + told["seconds"]
    for name in dict.fromkeys(name for job in jobs.values() for name in job["imports"]):
        importlib.import_module(name)
    draw = random.Random(told["seed"])
    names: list[str] = []
    number = 0
    while time.monotonic() < until:
        names = names or draw.sample(sorted(jobs), len(jobs))
        name = names.pop()
        number += 1
        place = folder / f"batch-{number}"
        place.mkdir()
        arms = draw.sample(told["arms"], len(told["arms"]))
        about = {"script": name, "batch": f"{told['seed']}-{number}"}
        with Path(told["kept"]).open("a") as stream:
            for row in batch(jobs[name], arms, place, until):
                stream.write(json.dumps(about | row) + "\n")
        shutil.rmtree(place, ignore_errors=True)


def batch(job: Job, arms: Sequence[str], place: Path, until: float) -> Iterator[dict[str, Any]]:
    """Start all, let them make their steps in turn, and say what each found."""
    lock = os.open(place / "lock", os.O_WRONLY | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    places = [place / str(number) for number in range(len(arms))]
    pids = [_copy(job, arm, one, lock) for arm, one in zip(arms, places, strict=True)]
    ready = [one / "steps.json.ready" for one in places]
    most = min(time.monotonic() + _STARTED, until)
    while time.monotonic() < most and not all(path.exists() for path in ready):
        time.sleep(_LOOKS)
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)
    _end(pids, min(time.monotonic() + _TIMED, until + 5))
    for arm, one in zip(arms, places, strict=True):
        yield {"arm": arm, **_found(one)}


def _end(pids: Sequence[int], until: float) -> None:
    """Wait for all; end those that are late, and what any of them has started."""
    left = set(pids)
    while left and time.monotonic() < until:
        left -= {pid for pid in left if os.waitpid(pid, os.WNOHANG)[0]}
        time.sleep(_LOOKS)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    for pid in left:
        os.waitpid(pid, 0)


def _found(place: Path) -> dict[str, Any]:
    out, log = place / "steps.json", place / "log"
    if out.exists():
        found: dict[str, Any] = json.loads(out.read_text())
        return found
    return {"failed": log.read_text(errors="replace").strip()[-300:] if log.exists() else "?"}


def _copy(job: Job, arm: str, place: Path, lock: int) -> int:
    pid = os.fork()
    if not pid:
        os.close(lock)
        _be(job, arm, place)
    return pid


def _be(job: Job, arm: str, place: Path) -> NoReturn:
    """Be a process of this arm, from here to its end."""
    try:
        os.setsid()
        (place / "recording").mkdir(parents=True)
        out = os.open(place / "log", os.O_WRONLY | os.O_CREAT)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.environ.update(job["environment"])
        os.chdir(job["folder"])
        sys.argv = list(job["arguments"])
        sys.path.insert(0, str(Path(sys.argv[0]).resolve().parent))
        if arm in job["recorders"]:
            _record(job["recorders"][arm], place / "recording")
        here = {"WINDOW_ARM": arm, "WINDOW_OUT": str(place / "steps.json")}
        here["WINDOW_LOCK"] = str(place.parent / "lock")
        Clocks(sys.modules["torch"], {**os.environ, **here})
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        # It ends by itself only before it has made all its steps.
        os._exit(1)


def _record(about: Mapping[str, str], folder: Path) -> None:
    """Begin to record, as a process does that has just imported torch."""
    os.environ.update(about)
    os.environ["TCLINT_RECORD"] = str(folder)
    site = os.environ.pop("WINDOW_RECORDER")
    sys.path.insert(0, site)
    start = importlib.import_module("tclint_recorder.start")
    attach = importlib.import_module("tclint_recorder.with_torch").attach
    sys.path.remove(site)
    start.begin()
    (recording,) = start.recordings
    torch = sys.modules["torch"]
    recording.has_torch(torch)
    attach(torch, recording)


if __name__ == "__main__":
    run(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[1]).parent)
