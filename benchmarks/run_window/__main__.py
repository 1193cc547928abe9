"""Whether a script is slower after the recorder's windows: ``python -m benchmarks.run_window``.

Public scripts run many times, in copies of one process that has torch imported. A batch of copies
is of one script; all are started, and then make their steps one after the other, in an order that
is drawn. They differ in one thing alone, their arm:

- *none*: no recorder, no profiler;
- *recorder*: as a user has it;
- *older*: another recorder, ``--older`` names its folder;
- *unwatched*: the recorder, without any window;
- *plain*: no recorder, torch's profiler for the same steps, and the tracer is detached;
- *hasty*: the same, but the variable by which it is detached is taken back at once;
- *attached*: the same, and the tracer stays;
- *host*: the same, and it sees the host alone.

``clocks.py`` times the same steps in all of them, by number: some before the window, and some after
it. A row tells by how much a step is longer after than before, less what it is in *none*, within
each batch: what processes and the machine have in common is not in it. *CPU* is the time of all
the process's threads; *launch*, *wait* and *host* are of small things that a step is made of, run
many times between the steps; *collector* is Python's, as a share of the steps; *threads* how many
there are more. In brackets is a 95% interval, by a bootstrap over batches.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.run_overhead.__main__ import LONGER
from benchmarks.run_scripts import data, desk
from benchmarks.run_scripts.listed import SCRIPTS, Script
from benchmarks.run_window.clocks import window
from tclint.run.launch import SITE as RECORDER

ARMS = ("none", "recorder", "older", "unwatched", "plain", "hasty", "attached", "host")
IMPORTS = {
    "mnist": ("torch", "torchvision"),
    "vae": ("torch", "torchvision"),
    "torch_geometric": ("torch", "torch_geometric"),
}
_WINDOWS = {"recorder": "3,20,3", "older": "3,20,3", "unwatched": "0,0,0"}
_FOREVER = {"torch_geometric": ("examples/compile/gcn.py", "range(1, 201)", "range(1, 1_000_001)")}
_DIGITS = 8_000
"""So many that no epoch ends while steps are timed."""
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
            measure(options, Path(folder), kept)
    rows = [json.loads(line) for line in kept.read_text().splitlines()]
    print("\n".join(page(rows)))


def measure(options: argparse.Namespace, folder: Path, kept: Path) -> None:
    """Let one process import torch, and copies of it be the arms."""
    wanted = [script for script in SCRIPTS if script.name in options.only.split(",")]
    told = {
        "jobs": {script.name: _job(script, options, folder / script.name) for script in wanted},
        "arms": options.arms.split(","),
        "seconds": options.seconds,
        "seed": options.seed,
        "kept": str(kept.resolve()),
    }
    (folder / "told.json").write_text(json.dumps(told))
    # Nothing may touch the GPU before a copy does.
    environment = os.environ | {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}
    command = [options.python, "-m", "benchmarks.run_window.copies", str(folder / "told.json")]
    subprocess.run(command, env=environment, check=True)


def _job(script: Script, options: argparse.Namespace, work: Path) -> dict[str, Any]:
    """Lay out a script, and say how a copy runs it."""
    _lay_out(script, options, work)
    gate, early, _ = map(int, options.steps.split(","))
    # The windows begin at the same step in all arms; losses are copied before steps are timed.
    recorder = {"TCLINT_RECORD_WARM_UP": str(window(gate, early))}
    recorder["TCLINT_RECORD_LOSSES"] = str(gate - 10)
    more = LONGER.get(script.name, "")
    return {
        "imports": IMPORTS[script.name],
        "folder": str(work / script.folder),
        "arguments": desk.arguments(script, options.device, work, more),
        "environment": desk.environment(script, work, options.device)
        | {"WINDOW_STEPS": options.steps},
        "recorders": {
            arm: recorder
            | {"TCLINT_RECORD_WINDOW": sizes}
            | {"WINDOW_RECORDER": str(options.older if arm == "older" else RECORDER)}
            for arm, sizes in _WINDOWS.items()
        },
    }


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
    yield f"| arm | processes | batches | before | {' | '.join(MEASURES)} | threads |"
    yield f"| --- | ---: | ---: | ---: | {' | '.join('---:' for _ in MEASURES)} | ---: |"
    for arm in ARMS:
        own = [row for row in rows if row["arm"] == arm]
        if not own:
            continue
        before = statistics.median(statistics.median(_times(row, "early", 0)) for row in own)
        told = [
            arm,
            str(len(own)),
            str(len({row["batch"] for row in own})),
            f"{before / 1e6:.3g} ms",
        ]
        for one in MEASURES.values():
            told.append("" if arm == "none" else _told(differences(rows, arm, one)))
        more = [row["after"]["threads"] - row["before"]["threads"] for row in own]
        told.append(f"{statistics.mean(more):+.1f}")
        yield f"| {' | '.join(told)} |"


def differences(rows: Iterable[Row], arm: str, measure: Measure) -> list[float]:
    """For each batch, by how much an arm differs from *none*."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row["arm"] in {arm, "none"}:
            found.setdefault(row["batch"], {}).setdefault(row["arm"], []).append(measure(row))
    return [
        statistics.mean(one[arm]) - statistics.mean(one["none"])
        for one in found.values()
        if len(one) > 1
    ]


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
        / sum(step[0] for step in steps)
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


def _told(found: Sequence[float]) -> str:
    if not found:
        return "?"
    draw = random.Random(0)
    again = sorted(statistics.median(draw.choices(found, k=len(found))) for _ in range(_DRAWS))
    ends = statistics.median(found), again[_DRAWS // 40], again[-_DRAWS // 40 - 1]
    value, low, high = map(math.expm1, ends)
    return f"{value:+.1%} ({low:+.1%} to {high:+.1%})"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=lambda text: Path(text).resolve(), default=Path())
    parser.add_argument("--python", default=sys.executable, help="runs the scripts")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--only", default=",".join(IMPORTS), help="names of scripts, with commas")
    parser.add_argument(
        "--arms",
        default="none,none,none,recorder,recorder,recorder,attached",
        help="of each batch, with commas",
    )
    parser.add_argument("--older", type=lambda text: Path(text).resolve(), default=RECORDER)
    parser.add_argument("--steps", default="50,250,250", help="first, before and after")
    parser.add_argument("--seconds", type=float, default=500.0, help="0: print again")
    parser.add_argument("--seed", type=int, default=0, help="of the order")
    parser.add_argument("--out", type=Path, required=True, help="all steps of all processes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
