"""What the recorder costs a step outside of its windows: ``python -m benchmarks.run_overhead``.

Two processes run one training step, one without the recorder and one with it, in turns of a few
steps each. The windows are off: what is left is what every step pays. The interval is a bootstrap
over the turns. With ``--device cuda`` the model is on the GPU, and a turn is timed to its end
there: the machine should have nothing else to do. ``--checkouts`` is a folder of checkouts of
public repositories, whose steps are run where ``--only`` names them.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tclint.run.launch import SITE

STEPS = Path(__file__).with_name("steps.py")
_FEWEST = 5


def started(folder: str, options: argparse.Namespace, recorded: bool) -> subprocess.Popen[str]:
    """A process that waits for its first turn."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TCLINT")}
    kept |= {"OVERHEAD_DEVICE": options.device, "OVERHEAD_WIDTH": str(options.width)}
    kept |= {"OVERHEAD_CHECKOUTS": str(options.checkouts)}
    if recorded:
        paths = os.pathsep.join(filter(None, [str(SITE), os.environ.get("PYTHONPATH", "")]))
        kept |= {"TCLINT_RECORD": folder, "TCLINT_RECORD_WINDOW": "0,0,0", "PYTHONPATH": paths}
    return subprocess.Popen(
        [options.python, str(STEPS)],
        env=kept,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def turn(process: subprocess.Popen[str], name: str, steps: int) -> float:
    """Milliseconds of one step."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(name, steps, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def interval(ratios: list[float]) -> tuple[float, float]:
    """The middle 95% of the medians of what is drawn from the ratios."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[-51]


def told(name: str, both: list[subprocess.Popen[str]], options: argparse.Namespace) -> str:
    """Run a step in turns; the order changes each time."""
    for process in both:
        turn(process, name, options.warm_up)
    until = time.monotonic() + options.seconds
    times: list[dict[int, float]] = []
    while len(times) < options.turns and (len(times) < _FEWEST or time.monotonic() < until):
        order = (0, 1) if len(times) % 2 else (1, 0)
        times.append({which: turn(both[which], name, options.steps) for which in order})
    ratios = [one[1] / one[0] for one in times]
    low, high = interval(ratios)
    plain = statistics.median(one[0] for one in times)
    return (
        f"{name}: a step of {plain:.2f} ms costs {statistics.median(ratios) - 1:+.2%} "
        f"recorded ({low - 1:+.2%} to {high - 1:+.2%}, {len(times)} turns of {options.steps})"
    )


def main() -> None:
    """Measure and print, step by step."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--steps", type=int, default=40, help="of each turn")
    more = "steps before the first turn; losses are recorded in the first hundred"
    parser.add_argument("--warm-up", type=int, default=120, help=more)
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--checkouts", type=lambda text: Path(text).resolve(), default=Path())
    parser.add_argument("--only", default="linear", help="names of steps, with commas")
    parser.add_argument("--seconds", type=float, default=600.0, help="the most for each step")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        both = [started(folder, options, recorded) for recorded in (False, True)]
        try:
            for name in options.only.split(","):
                print(told(name, both, options), flush=True)
        finally:
            for process in both:
                process.communicate()


if __name__ == "__main__":
    main()
