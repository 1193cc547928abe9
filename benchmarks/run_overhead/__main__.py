"""What the recorder costs a step outside of its windows: ``python -m benchmarks.run_overhead``.

Public scripts run as they are under ``tclint run``; ``site/sitecustomize.py`` switches the recorder
off and on in their own process every ten steps, in an order that is drawn. Each line of the
table is of one process: the ratio of neighbouring blocks, with a bootstrap over the pairs. Without
a GPU a step is timed by its thread's own clock, so that other programs do not count.

*first* is while losses are copied, in the first hundred steps of a usual run; *later* is after
them; *own* is the time in the recorder's own functions then, lines that they write included,
measured directly; *profiled* is how much longer steps without the recorder are once a profiler has
run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.run_scripts import desk as desks
from benchmarks.run_scripts.listed import SCRIPTS, Script

SITE = Path(__file__).with_name("site")
LONGER = {
    "nanoGPT": "--max_iters=1000000 --eval_interval=1000000",
    "minGPT": "--trainer.max_iters=1000000",
    "nanochat": "--num-iterations=1000000",
    "DiT": "--epochs=100000 --ckpt-every=1000000",
    "dino": "--epochs=2000 --saveckp_freq=100000",
    "mnist": "--epochs=100000",
    "imagenet": "--epochs=100000",
    "vae": "--epochs=100000",
    "dcgan": "--niter=100000",
    "alpaca": "--max_steps=1000000",
    "lightning": "--trainer.max_steps=1000000",
    "diffusers": "--num_epochs=100000 --save_model_epochs=100000",
    "word_language_model": "--epochs=100000",
}
"""Arguments with which a script does not end by itself."""
_AGAIN = "import runpy\nwhile True:\n    runpy.run_path({!r}, run_name='__main__')"
_FEWEST = 5
_PATIENCE = 15
HEAD = (
    "| script | step | pairs | later | own | first | own | profiled |\n"
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
)

Block = tuple[bool, Sequence[float], Sequence[float]]


def main() -> None:
    """Measure and print, script by script."""
    options = _options()
    print(HEAD, flush=True)
    for script in SCRIPTS:
        wanted = not options.only or script.name in options.only.split(",")
        if wanted and getattr(script, options.device) is not None:
            print(measured(script, options), flush=True)


def measured(script: Script, options: argparse.Namespace) -> str:
    """Run one script, and the row of the table for it."""
    with tempfile.TemporaryDirectory(prefix=f"overhead-{script.name}-") as folder:
        work, out = Path(folder, "work"), Path(folder, "out")
        out.mkdir()
        desks.lay_out(script, options.checkouts, options.python, work)
        told = desks.environment(script, work, options.device)
        told["PYTHONPATH"] = os.pathsep.join(filter(None, [str(SITE), told["PYTHONPATH"]]))
        told |= {"OVERHEAD_OUT": str(out), "OVERHEAD_DEVICE": options.device}
        told |= {"OVERHEAD_SECONDS": str(options.seconds), "OVERHEAD_SEED": str(options.seed)}
        arguments = desks.arguments(script, options.device, work, LONGER.get(script.name, ""))
        if script.name not in LONGER:
            arguments = ["-c", _AGAIN.format(arguments[0])]
        command = [sys.executable, "-m", "tclint", "run", "--output-format", "json"]
        command += ["--output-file", str(out / "report.txt"), "--", options.python, *arguments]
        log = Path(folder, "log")
        with log.open("wb") as stream:
            limit = 3 * options.seconds + options.start
            process = subprocess.Popen(
                command,
                cwd=work / script.folder,
                env=told,
                stdout=stream,
                stderr=stream,
                start_new_session=True,
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                stop(process)
        found = [json.loads(path.read_text()) for path in out.glob("blocks-*.json")]
        if options.out is not None and found:
            options.out.mkdir(parents=True, exist_ok=True)
            (options.out / f"{script.name}.json").write_text(json.dumps(found))
        if not found:
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            return f"{script.name}: no steps were measured; {''.join(last)}"
        return row(script.name, max(found, key=len))


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a command as Ctrl-C does: the program writes what it has when it ends."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, number)
            process.wait(_PATIENCE)
            return


def row(name: str, blocks: Sequence[Any]) -> str:
    """The row of one process."""
    phases: dict[str, list[Block]] = {}
    for phase, *block in blocks:
        phases.setdefault(phase, []).append((block[0], block[1], block[2]))
    later, first = phases.get("later", []), phases.get("first", [])
    plain = [statistics.median(times) for on, times, _ in later if not on]
    step = statistics.median(plain) if plain else 0.0
    cells = [name, f"{step / 1e6:.3g} ms", str(len(ratios(later)))]
    for one in (later, first):
        cells += [told(one), own(one, step)]
    return f"| {' | '.join((*cells, left_behind(phases)))} |"


def pairs_of(blocks: Sequence[Block]) -> Iterator[tuple[Block, Block]]:
    """Neighbouring blocks, the one without the recorder first."""
    for one, other in zip(blocks[::2], blocks[1::2], strict=False):
        yield (other, one) if one[0] else (one, other)


def ratios(blocks: Sequence[Block]) -> list[float]:
    """How long a step is with the recorder, for each pair, as a multiple of one without."""
    return [statistics.median(on[1]) / statistics.median(off[1]) for off, on in pairs_of(blocks)]


def told(blocks: Sequence[Block]) -> str:
    """What the recorder costs, with its interval."""
    found = ratios(blocks)
    if len(found) < _FEWEST:
        return "?"
    low, high = interval(found)
    return f"{statistics.median(found) - 1:+.2%} ({low - 1:+.2%} to {high - 1:+.2%})"


def own(blocks: Sequence[Block], step: float) -> str:
    """The time in the recorder's own functions: the mean, which a rare long call raises."""
    times = [ns for on, _, own in blocks if on for ns in own]
    if not times or not step:
        return "?"
    mean = statistics.mean(times)
    return f"{mean / 1e3:.1f} µs, {mean / step:.2%}"


def left_behind(phases: dict[str, list[Block]]) -> str:
    """How steps without the recorder differ after a profiler from those before it."""
    before, after = (
        [statistics.median(times) for on, times, _ in phases.get(name, []) if not on]
        for name in ("later", "profiled")
    )
    if min(len(before), len(after)) < _FEWEST:
        return "?"
    return f"{statistics.median(after) / statistics.median(before) - 1:+.1%}"


def interval(found: Sequence[float]) -> tuple[float, float]:
    """The middle 95% of the medians of what is drawn from the ratios."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(found, k=len(found))) for _ in range(2000))
    return medians[50], medians[-51]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkouts", type=lambda text: Path(text).resolve(), default=Path())
    parser.add_argument("--python", default=sys.executable, help="runs the scripts")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", default="", help="names of scripts, with commas")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each of three phases")
    parser.add_argument("--start", type=float, default=60.0, help="seconds until it makes steps")
    parser.add_argument("--seed", type=int, default=0, help="of the order in each pair")
    parser.add_argument("--out", type=Path, help="keep the times of all steps here")
    return parser.parse_args()


if __name__ == "__main__":
    main()
