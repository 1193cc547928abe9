"""Whether a script is slower after the recorder's windows: ``python -m benchmarks.run_window``.

Public scripts run many times, each in a process of its own, in an order that is drawn. These
differ in one thing alone, their arm:

- *none*: no recorder, no profiler;
- *recorder*: as a user has it;
- *older*: another recorder, ``--older`` names its folder;
- *unwatched*: the recorder, without any window;
- *plain*: no recorder, torch's profiler for the same steps, and the tracer is detached;
- *hasty*: the same, but the variable by which it is detached is taken back at once;
- *attached*: the same, and the tracer stays;
- *host*: the same, and it sees the host alone.

``site/sitecustomize.py`` times the same steps in all of them, by number: some before the window,
and some after it. A row tells by how much a step is longer after than before, less what it is in
*none*: what the process and the machine have in common is not in it. *CPU* is the time of all
threads of the process; *launch*, *wait* and *host* are of small things that a step is made of, run
many times between the steps; *collector* is the share that Python's collector takes of the steps;
*threads* are those that there are more. In brackets is a 95% interval, by a bootstrap over
processes.
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
ARMS = ("none", "recorder", "older", "unwatched", "plain", "hasty", "attached", "host")
_WINDOWS = {"recorder": "3,20,3,1", "older": "3,20,3", "unwatched": "0,0,0"}
_FOREVER = {"torch_geometric": ("examples/compile/gcn.py", "range(1, 201)", "range(1, 1_000_001)")}
_DIGITS = 8_000
"""So many that no epoch ends while steps are timed."""
_PATIENCE = 120
_DRAWS = 2000

Row = dict[str, Any]
Measure = Callable[[Row], float]


def main() -> None:
    """Measure, if there is time for it, and print what all calls found until now."""
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
        while True:
            pairs = [(name, arm) for name in self._scripts for arm in self._options.arms.split(",")]
            draw.shuffle(pairs)
            yield from pairs

    def _work(self) -> None:
        while time.monotonic() < self._until:
            with self._turn:
                name, arm = next(self._order)
                self._number += 1
                place = self._folder / str(self._number)
            found = self._process(self._scripts[name], arm, place)
            about = {"script": name, "arm": arm, "seed": self._options.seed}
            with self._turn, self._kept.open("a") as stream:
                stream.write(json.dumps(about | found) + "\n")

    def _process(self, script: Script, arm: str, place: Path) -> Row:
        place.mkdir()
        work = self._folder / script.name
        more = LONGER.get(script.name, "")
        command = [self._options.python, *desk.arguments(script, self._options.device, work, more)]
        with (place / "log").open("wb") as stream:
            process = subprocess.Popen(
                command,
                cwd=work / script.folder,
                env=self._environment(script, arm, place),
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            with suppress(subprocess.TimeoutExpired):
                process.wait(min(_PATIENCE, self._until + 5 - time.monotonic()))
            # With what it has started itself.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out = place / "steps.json"
        last = (place / "log").read_text(errors="replace").strip()[-300:]
        found: Row = json.loads(out.read_text()) if out.exists() else {"failed": last}
        shutil.rmtree(place, ignore_errors=True)
        return found

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
            # So that the windows begin where the other arms have theirs.
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
    yield f"{len(good)} processes, {len(rows) - len(good)} without steps"
    yield from {row["failed"] for row in rows if "steps" not in row}
    names = sorted({row["script"] for row in good})
    for chosen in (names, *([[name] for name in names] if len(names) > 1 else [])):
        yield f"\n{', '.join(chosen)}\n"
        yield from table([row for row in good if row["script"] in chosen])


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A row for each arm."""
    yield f"| arm | processes | before | {' | '.join(MEASURES)} | threads |"
    yield f"| --- | ---: | ---: | {' | '.join('---:' for _ in MEASURES)} | ---: |"
    for arm in ARMS:
        own = [row for row in rows if row["arm"] == arm]
        if not own:
            continue
        before = statistics.median(statistics.median(_times(row, "early", 0)) for row in own)
        cells = _cells(rows, arm)
        told = [arm, str(len(own)), f"{before / 1e6:.3g} ms"]
        for one in MEASURES.values():
            told.append("" if arm == "none" else _told(cells, one))
        more = [row["after"]["threads"] - row["before"]["threads"] for row in own]
        told.append(f"{statistics.mean(more):+.1f}")
        yield f"| {' | '.join(told)} |"


def _cells(rows: Iterable[Row], arm: str) -> list[tuple[list[Row], list[Row]]]:
    """The processes of an arm and of *none*, by script and call."""
    found: dict[tuple[str, int], tuple[list[Row], list[Row]]] = {}
    for row in rows:
        if row["arm"] in {arm, "none"}:
            pair = found.setdefault((row["script"], row["seed"]), ([], []))
            pair[row["arm"] == "none"].append(row)
    return [pair for pair in found.values() if all(pair)]


def _times(row: Row, part: str, clock: int) -> list[float]:
    """Nanoseconds of each step."""
    return [step[clock] for step in row["steps"][part]]


def _tenth(times: Sequence[float]) -> float:
    return sorted(times)[len(times) // 10]


def _later(
    of: Callable[[Sequence[float]], float], clock: int = 0, half: int | None = None
) -> Measure:
    """How the steps have changed; of those after the window all, or one half."""

    def measure(row: Row) -> float:
        before, after = _times(row, "early", clock), _times(row, "late", clock)
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


def _collector(row: Row) -> float:
    """By how much the collector's share of the steps has grown."""
    before, after = (
        sum(float(ns) for count, *_, ns in row["collected"] if first <= count < first + len(steps))
        / sum(float(step[0]) for step in steps)
        for first, steps in ((row["first"][part], row["steps"][part]) for part in ("early", "late"))
    )
    return after - before


MEASURES: dict[str, Measure] = {
    "step": _later(statistics.median),
    "soon": _later(statistics.median, half=0),
    "late": _later(statistics.median, half=1),
    "fastest tenth": _later(_tenth),
    "CPU": _later(statistics.median, 1),
    "collector": _collector,
    "launch": _probe("launch"),
    "wait": _probe("wait"),
    "host": _probe("host"),
}
"""How a step, and what it is made of, has changed."""


def _told(cells: Sequence[tuple[list[Row], list[Row]]], measure: Measure) -> str:
    if not cells:
        return "?"
    pairs = [([measure(row) for row in own], [measure(row) for row in none]) for own, none in cells]
    draw = random.Random(0)
    again = sorted(
        _difference([(_again(draw, own), _again(draw, none)) for own, none in pairs])
        for _ in range(_DRAWS)
    )
    ends = _difference(pairs), again[_DRAWS // 40], again[-_DRAWS // 40 - 1]
    value, low, high = map(math.expm1, ends)
    return f"{value:+.1%} ({low:+.1%} to {high:+.1%})"


def _again(draw: random.Random, values: Sequence[float]) -> list[float]:
    return draw.choices(values, k=len(values))


def _difference(pairs: Sequence[tuple[Sequence[float], Sequence[float]]]) -> float:
    """The mean of what the medians of each cell differ by; a cell of few processes counts less."""
    weights = [1 / (1 / len(own) + 1 / len(none)) for own, none in pairs]
    apart = [statistics.median(own) - statistics.median(none) for own, none in pairs]
    return sum(w * far for w, far in zip(weights, apart, strict=True)) / sum(weights)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=lambda text: Path(text).resolve(), default=Path())
    parser.add_argument("--python", default=sys.executable, help="runs the scripts")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--only", default="mnist,vae,torch_geometric", help="names of scripts")
    parser.add_argument("--arms", default="none,none,recorder,recorder,attached", help="of a round")
    parser.add_argument("--older", type=lambda text: Path(text).resolve(), default=RECORDER)
    parser.add_argument("--steps", default="50,250,250", help="first, before and after")
    parser.add_argument("--seconds", type=float, default=500.0, help="0: print again")
    parser.add_argument("--ahead", type=int, default=7, help="processes at a time; one makes steps")
    parser.add_argument("--apart", type=float, default=1.0, help="seconds between their starts")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    parser.add_argument("--out", type=Path, required=True, help="all steps of all processes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
