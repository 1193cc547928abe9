"""Whether a script is slower after the recorder's windows: ``python -m benchmarks.run_window``.

Public scripts run many times, each in a process of its own, in an order that is drawn. These
differ in one thing alone, their arm:

- *none*: no recorder, no profiler;
- *recorder*: as a user has it;
- *older*: another recorder, ``--older`` names its folder;
- *unwatched*: the recorder, without any window;
- *unprofiled*: the recorder, which looks for syncs and takes samples, without its profiler;
- *frozen*: the recorder, and all objects are taken from the garbage collector after the window;
- *plain*: no recorder, torch's profiler for the same steps, and the tracer is detached;
- *hasty*: the same, but the variable by which it is detached is taken back at once;
- *attached*: the same, and the tracer stays;
- *host*: the same, and it sees the host alone.

``site/sitecustomize.py`` times the same steps in all of them, by number: some before the window,
and some after it. A row tells by how much a step is longer after than before, less what it is in
*none*: what the process and the machine have in common is not in it. In brackets is a 95% interval,
by a bootstrap over processes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.run_overhead.__main__ import LONGER
from benchmarks.run_scripts import data, desk
from benchmarks.run_scripts.listed import SCRIPTS, Script
from tclint.run.launch import SITE as RECORDER

SITE = Path(__file__).with_name("site")
ARMS = {
    "none": 2,
    "recorder": 2,
    "older": 2,
    "unwatched": 1,
    "unprofiled": 1,
    "frozen": 1,
    "plain": 1,
    "hasty": 1,
    "attached": 1,
    "host": 1,
}
"""The arms, and how often each comes in a round."""
_WINDOWS = {
    "recorder": "3,20,3",
    "older": "3,20,3",
    "unwatched": "0,0,0",
    "unprofiled": "3,20,0",
    "frozen": "3,20,3",
}
_FOREVER = {"torch_geometric": ("examples/compile/gcn.py", "range(1, 201)", "range(1, 1_000_001)")}
_DIGITS = 8_000
_PATIENCE = 120
_DRAWS = 2000

Row = dict[str, Any]
Measure = Callable[[Row], float]


def main() -> None:
    """Measure, if there is time for it, and print what all rounds found until now."""
    options = _options()
    options.out.mkdir(parents=True, exist_ok=True)
    kept = options.out / "processes.jsonl"
    if options.seconds:
        with tempfile.TemporaryDirectory(prefix="window-") as folder:
            Rounds(options, Path(folder), kept).run()
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    print("\n".join(page(rows)))


class Rounds:
    """Starts process after process, some ahead of their turn, until the time is over."""

    def __init__(self, options: argparse.Namespace, folder: Path, kept: Path) -> None:
        self._options, self._folder, self._kept = options, folder, kept
        self._until = time.monotonic() + options.seconds
        self._turn = threading.Lock()
        self._number = 0
        self._scripts = {one.name: one for one in SCRIPTS if one.name in options.only.split(",")}
        self._order = self._drawn()
        for script in self._scripts.values():
            _lay_out(script, options, folder / script.name)

    def run(self) -> None:
        """Come back once the time is over."""
        threads = [threading.Thread(target=self._work) for _ in range(self._options.ahead)]
        for thread in threads:
            thread.start()
            time.sleep(self._options.apart)
        for thread in threads:
            thread.join()

    def _drawn(self) -> Iterator[tuple[str, str]]:
        draw = random.Random(self._options.seed)
        arms = [arm for arm in self._options.arms.split(",") for _ in range(ARMS[arm])]
        while True:
            pairs = [(name, arm) for name in self._scripts for arm in arms]
            draw.shuffle(pairs)
            yield from pairs

    def _work(self) -> None:
        while time.monotonic() < self._until:
            with self._turn:
                name, arm = next(self._order)
                self._number += 1
                number = self._number
            found = self._process(self._scripts[name], arm, self._folder / f"{number}")
            with self._turn, self._kept.open("a") as stream:
                stream.write(json.dumps({"script": name, "arm": arm, **found}) + "\n")

    def _process(self, script: Script, arm: str, place: Path) -> Row:
        place.mkdir()
        work = self._folder / script.name
        told = self._environment(script, arm, place)
        more = LONGER.get(script.name, "")
        command = [self._options.python, *desk.arguments(script, self._options.device, work, more)]
        started = time.monotonic()
        with (place / "log").open("wb") as stream:
            process = subprocess.Popen(
                command,
                cwd=work / script.folder,
                env=told,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            with suppress(subprocess.TimeoutExpired):
                process.wait(min(_PATIENCE, self._until + 5 - started))
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out = place / "steps.json"
        last = (place / "log").read_text(errors="replace").strip()[-300:]
        found = json.loads(out.read_text()) if out.exists() else {"failed": last}
        shutil.rmtree(place, ignore_errors=True)
        return {**found, "seconds": time.monotonic() - started}

    def _environment(self, script: Script, arm: str, place: Path) -> dict[str, str]:
        options = self._options
        told = desk.environment(script, self._folder / script.name, options.device)
        sites = [str(SITE), told["PYTHONPATH"]]
        if arm in _WINDOWS:
            gate, early, _ = map(int, options.steps.split(","))
            (place / "recording").mkdir()
            sites.insert(0, str(options.older if arm == "older" else RECORDER))
            told["TCLINT_RECORD"] = str(place / "recording")
            told["TCLINT_RECORD_WINDOW"] = _WINDOWS[arm]
            # So that the window begins where the other arms have theirs.
            told["TCLINT_RECORD_WARM_UP"] = str(gate + early + 16)
            # Losses are copied before the steps that are timed.
            told["TCLINT_RECORD_LOSSES"] = str(gate - 10)
        told["PYTHONPATH"] = os.pathsep.join(sites)
        told |= {"WINDOW_ARM": arm, "WINDOW_STEPS": options.steps}
        told |= {"WINDOW_OUT": str(place / "steps.json"), "WINDOW_LOCK": str(self._folder / "lock")}
        cores = sorted(os.sched_getaffinity(0))
        if len(cores) > 7:
            told["WINDOW_CORES"] = ",".join(map(str, cores[:4]))
            told["WINDOW_OTHERS"] = ",".join(map(str, cores[4:]))
        return told


def _lay_out(script: Script, options: argparse.Namespace, work: Path) -> None:
    desk.lay_out(script, options.checkouts, options.python, work)
    if script.data == "few_digits":
        # No epoch ends while steps are timed.
        shutil.rmtree(work / "data")
        data.digits(work / "data" / "MNIST" / "raw", _DIGITS, 64)
    if script.name in _FOREVER:
        name, old, new = _FOREVER[script.name]
        text = (work / name).read_text()
        assert old in text, f"{name} has no {old}"
        (work / name).write_text(text.replace(old, new))


def page(rows: Sequence[Row]) -> Iterator[str]:
    """What is printed: a table for all scripts together, and one for each."""
    good = [row for row in rows if "steps" in row]
    failed = [row for row in rows if "steps" not in row]
    yield f"{len(good)} processes, {len(failed)} without steps"
    yield from {row.get("failed", "")[-200:] for row in failed}
    names = sorted({row["script"] for row in good})
    for chosen in (names, *([name] for name in names)):
        yield f"\n{', '.join(chosen)}\n"
        yield from table([row for row in good if row["script"] in chosen])


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A row for each arm."""
    yield f"| arm | processes | before | {' | '.join(MEASURES)} |"
    yield f"| --- | ---: | ---: | {' | '.join('---:' for _ in MEASURES)} |"
    reference = cells(rows, "none")
    for arm in ARMS:
        own = cells(rows, arm)
        if not own or own.keys() != reference.keys():
            continue
        count = sum(map(len, own.values()))
        before = statistics.median(
            statistics.median(wall(row, "early")) for cell in own.values() for row in cell
        )
        told = [arm, str(count), f"{before / 1e6:.3g} ms"]
        told += [_told(own, reference, measure) for measure in MEASURES.values()]
        yield f"| {' | '.join(told)} |"


def cells(rows: Iterable[Row], arm: str) -> dict[str, list[Row]]:
    """The processes of an arm, by script."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        if row["arm"] == arm:
            found.setdefault(row["script"], []).append(row)
    return found


def wall(row: Row, part: str) -> list[float]:
    """Nanoseconds of each step."""
    return [step[0] for step in row["steps"][part]]


def _tenth(times: Sequence[float]) -> float:
    return sorted(times)[len(times) // 10]


def _later(of: Callable[[Sequence[float]], float], clock: int, half: int | None) -> Measure:
    """How the steps have changed; of those after the window all, or one half."""

    def measure(row: Row) -> float:
        before, after = ([step[clock] for step in row["steps"][k]] for k in ("early", "late"))
        middle = len(after) // 2
        within = after if half is None else after[half * middle : (half + 1) * middle]
        return math.log(of(within) / of(before))

    return measure


def _probe(name: str) -> Measure:
    def measure(row: Row) -> float:
        if name not in row["before"]:
            return 0.0
        return math.log(_tenth(row["after"][name]) / _tenth(row["before"][name]))

    return measure


def _level(row: Row) -> float:
    return math.log(statistics.median(wall(row, "late")))


def _collector(row: Row) -> float:
    """By how much the collector's share of the steps has grown."""
    before, after = (
        sum(float(ns) for count, _, ns in row["collected"] if first <= count < first + len(steps))
        / sum(step[0] for step in steps)
        for first, steps in ((row["first"][part], row["steps"][part]) for part in ("early", "late"))
    )
    return after - before


MEASURES: dict[str, Measure] = {
    "step": _later(statistics.median, 0, None),
    "soon": _later(statistics.median, 0, 0),
    "late": _later(statistics.median, 0, 1),
    "fastest tenth": _later(_tenth, 0, None),
    "its CPU": _later(statistics.median, 1, None),
    "collector": _collector,
    "launch": _probe("launch"),
    "host operation": _probe("host"),
    "Python": _probe("python"),
    "wait": _probe("wait"),
    "same steps": _level,
}
"""How a step, and what it is made of, has changed; the last: how it is, after the window alone."""


def _told(own: dict[str, list[Row]], reference: dict[str, list[Row]], measure: Measure) -> str:
    pairs = [
        ([measure(row) for row in own[name]], [measure(row) for row in reference[name]])
        for name in own
    ]
    found = _difference(pairs)
    draw = random.Random(0)
    again = sorted(
        _difference([(_resampled(draw, ours), _resampled(draw, theirs)) for ours, theirs in pairs])
        for _ in range(_DRAWS)
    )
    low, high = again[_DRAWS // 40], again[-_DRAWS // 40 - 1]
    return f"{math.expm1(found):+.1%} ({math.expm1(low):+.1%} to {math.expm1(high):+.1%})"


def _resampled(draw: random.Random, values: Sequence[float]) -> list[float]:
    return draw.choices(values, k=len(values))


def _difference(pairs: Iterable[tuple[Sequence[float], Sequence[float]]]) -> float:
    return statistics.mean(
        statistics.median(ours) - statistics.median(theirs) for ours, theirs in pairs
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=lambda text: Path(text).resolve(), default=Path())
    parser.add_argument("--python", default=sys.executable, help="runs the scripts")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--only", default="mnist,vae,torch_geometric", help="names of scripts")
    parser.add_argument("--arms", default="none,recorder,plain,attached", help="none among them")
    parser.add_argument("--older", type=lambda text: Path(text).resolve(), default=RECORDER)
    parser.add_argument("--steps", default="50,150,200", help="first, before and after")
    parser.add_argument("--seconds", type=float, default=500.0, help="0: print again")
    parser.add_argument("--ahead", type=int, default=7, help="processes at a time; one makes steps")
    parser.add_argument("--apart", type=float, default=1.0, help="seconds between their starts")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    parser.add_argument("--out", type=Path, required=True, help="all steps of all processes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
