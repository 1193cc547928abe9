"""Prices against what is saved: ``python -m benchmarks.run_prices [--device cuda]``.

``--out`` keeps the results for the page that ``benchmarks.run_scripts --prices`` writes. Each
program is recorded once by ``tclint run``, and then run as it is and with each of its
remedies, in turns. The runs that are timed are forked from a process that has imported torch.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from benchmarks.run_prices.programs import PROGRAMS, Program, Remedy
from tclint.records import record

_WARM_UP = 15


@record(frozen=True)
class Priced:
    """One remedy: the price of its lines, its place in the report, and what it saves.

    Prices are milliseconds of a step; of a remedy that saves ``once``, seconds of the run. ``rank``
    is 0 where the report says that it is worth nothing.
    """

    program: str
    step: float
    remedy: str
    once: bool
    price: float
    low: float
    high: float
    rank: int
    saved: float
    noise: float
    plain: float
    worthless: bool
    says: tuple[str, ...]


def main() -> None:
    """Record, time, print."""
    options = _options()
    os.environ["PRICES_DEVICE"] = options.device
    os.environ["PRICES_STEPS"] = str(options.steps)
    # Asking the driver would keep the children from using the GPU.
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"
    for name in ("torch._dynamo", "torch._inductor.compile_fx"):
        importlib.import_module(name)
    parts = options.only.split(",")
    wanted = [one for one in PROGRAMS if any(part in one.name for part in parts)]
    found: list[Priced] = []
    with tempfile.TemporaryDirectory(prefix="tclint-prices-") as folder:
        for number, program in enumerate(wanted):
            begun = time.monotonic()
            desk = Path(folder, str(number))
            desk.mkdir()
            new = priced(program, desk, options)
            found += new
            _write(options.out, {"device": options.device, "found": [asdict(one) for one in found]})
            for one in new:
                print(
                    f"{one.program}: step {one.step:.3g}, price {one.price:.3g} "
                    f"({one.low:.3g} to {one.high:.3g}), line {one.rank}, saved {one.saved:.3g} "
                    f"+- {one.noise:.2g}  [{time.monotonic() - begun:.0f} s]",
                    flush=True,
                )
    told = {"device": _device(options.device), "found": [asdict(one) for one in found]}
    told |= summary(found)
    print(json.dumps({k: v for k, v in told.items() if k != "found"}))
    _write(options.out, told)


def _write(file: Path | None, told: Mapping[str, Any]) -> None:
    if file is not None:
        file.write_text(json.dumps(told, indent=1))


def summary(found: Sequence[Priced]) -> dict[str, Any]:
    """How well prices and savings agree, both as shares of a step."""
    steps = [one for one in found if not one.once]
    # A gain that is not more than two rounds differ by is none.
    gains = [one.saved / one.plain * (one.saved > one.noise) for one in steps]
    shares = [one.price / one.step for one in steps]
    top = [gain for gain, one in zip(gains, steps, strict=True) if 0 < one.rank <= 3]
    nothing = [one for one in steps if one.worthless]
    return {
        "rank_correlation": spearman(shares, [one.saved / one.plain for one in steps]),
        "held_by_top_three": sum(top) / sum(gains) if sum(gains) else None,
        "worthless": len(nothing),
        "worthless_said": sum(one.rank == 0 for one in nothing),
    }


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """The correlation of ranks."""
    first, second = _ranks(one), _ranks(other)
    return statistics.correlation(first, second) if len(first) > 2 else math.nan


def _ranks(values: Sequence[float]) -> list[float]:
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def priced(program: Program, desk: Path, options: argparse.Namespace) -> list[Priced]:
    """One program: what the report says, and what its remedies save."""
    script = desk / "train.py"
    script.write_text(program.text)
    told = _recorded(script, desk)
    texts = {"": program.text} | {one.found: program.mended(one) for one in program.remedies}
    rounds = [{name: _timed(text, script) for name, text in texts.items()} for _ in range(2)]
    said = _lines(told)
    return [_told(program, remedy, told, rounds, said) for remedy in program.remedies]


def _told(
    program: Program,
    remedy: Remedy,
    told: Mapping[str, Any],
    rounds: Sequence[Mapping[str, tuple[float, float]]],
    said: tuple[str, ...],
) -> Priced:
    rows = program.rows(remedy)
    calls = {row for row, code in enumerate(program.text.splitlines(), 1) if program.call in code}
    asked = {*rows, *(calls if program.call else ())}
    lines = [line for line in told["lines"] if line["row"] in asked]
    ranks = [line["rank"] for line in lines if line["rank"]]
    at = int(remedy.once)
    plain = [one[""][at] for one in rounds]
    mended = [one[remedy.found][at] for one in rounds]
    total = [sum(line["ms"][end] for line in lines) for end in ("value", "low", "high")]
    if remedy.once:
        again = [one for one in told["ranks"][0]["compiled"] if one["recompile_reason"]]
        total = [sum(one["seconds"] for one in again)] * 3
    saved = [a - b for a, b in zip(plain, mended, strict=True)]
    return Priced(
        program.name,
        told["ranks"][0]["step_ms"]["value"],
        remedy.better.strip().splitlines()[0] if remedy.better else "removed",
        remedy.once,
        *total,
        min(ranks, default=0),
        statistics.mean(saved),
        abs(saved[0] - saved[-1]),
        statistics.mean(plain),
        program.worthless,
        said,
    )


def _lines(told: Mapping[str, Any]) -> tuple[str, ...]:
    """The first lines of the report, as row, price and code."""
    ranked = sorted((one for one in told["lines"] if one["rank"]), key=lambda one: one["rank"])
    return tuple(f"{one['row']}: {one['ms']['value']:.2g} {one['code']}" for one in ranked[:4])


def _recorded(script: Path, desk: Path) -> Mapping[str, Any]:
    report = desk / "report.json"
    command = [sys.executable, "-m", "tclint", "run", "--output-format", "json"]
    command += ["--output-file", str(report), "--", sys.executable, script.name]
    done = subprocess.run(command, cwd=desk, capture_output=True, text=True, check=False)
    if not report.is_file():
        raise SystemExit(f"{script.read_text()}\n{done.stdout}\n{done.stderr}")
    told: Mapping[str, Any] = json.loads(report.read_text())
    if not told["ranks"]:
        raise SystemExit(f"{told['notes']}\n{done.stdout}\n{done.stderr}")
    return told


def _timed(text: str, script: Path) -> tuple[float, float]:
    """The median milliseconds of a step, and the seconds of all steps."""
    here, there = get_context("fork").Pipe()
    child = get_context("fork").Process(target=_run, args=(text, str(script), there))
    child.start()
    there.close()
    told: tuple[float, float] = here.recv()
    child.join()
    return told


def _run(text: str, name: str, answer: Any) -> None:
    import torch
    import torch.optim.optimizer as optimizers

    if os.environ["PRICES_DEVICE"] == "cuda":
        torch.cuda.init()  # what the device itself takes is no part of any program
    # Without a GPU all is in one thread, whose own clock does not count what others do.
    clock = time.perf_counter if os.environ["PRICES_DEVICE"] == "cuda" else time.thread_time
    ends = [clock()]
    optimizers.register_optimizer_step_post_hook(lambda *_: ends.append(clock()))
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
    # Inductor and Dynamo look a function's source up in its file.
    Path(name).write_text(text)
    exec(compile(text, name, "exec"), {"__name__": "__main__", "__file__": name})
    steps = [(b - a) * 1e3 for a, b in zip(ends[_WARM_UP:], ends[_WARM_UP + 1 :], strict=False)]
    answer.send((statistics.median(steps), ends[-1] - ends[0]))


def _device(device: str) -> str:
    code = "import torch; print(torch.__version__, torch.cuda.get_device_name() if "
    code += f"{device == 'cuda'} else 'CPU')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--only", default="", help="parts of names, with commas between")
    parser.add_argument("--out", type=Path, help="write the results here, as JSON")
    return parser.parse_args()


if __name__ == "__main__":
    main()
