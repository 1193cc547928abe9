"""What the recorder costs a step outside of its windows: ``python -m benchmarks.run_overhead``.

Two processes run one training loop of some two milliseconds a step, one without the recorder and
one with it, in turns of a few steps each. The windows are off: what is left is what every step
pays. The interval is a bootstrap over the turns. With ``--device cuda`` the model is on the GPU,
and a turn is timed to its end there: the machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile

from tclint.run.launch import SITE

PROGRAM = """
import statistics, sys, time
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
torch.set_default_device("{device}")
model = torch.nn.Sequential(*(torch.nn.Linear({width}, {width}) for _ in range(8)))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(64, {width})
for line in sys.stdin:
    times = []
    begun = time.perf_counter_ns()
    for i in range(int(line)):
        start = time.thread_time_ns()
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        times.append(time.thread_time_ns() - start)
    step = statistics.median(times)
    if "{device}" == "cuda":
        torch.cuda.synchronize()
        step = (time.perf_counter_ns() - begun) / len(times)
    print(step / 1e6, flush=True)
"""
WARM_UP = 120
"""More steps than losses are recorded in."""


def started(folder: str, options: argparse.Namespace, recorded: bool) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TCLINT")}
    if recorded:
        kept |= {"TCLINT_RECORD": folder, "TCLINT_RECORD_WINDOW": "0,0,0", "PYTHONPATH": str(SITE)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(width=options.width, device=options.device)],
        env=kept,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def turn(process: subprocess.Popen[str], steps: int) -> float:
    """Milliseconds of one step; on a CPU by the thread's own clock: other programs do not count."""
    assert process.stdin is not None
    assert process.stdout is not None
    print(steps, file=process.stdin, flush=True)
    return float(process.stdout.readline())


def interval(ratios: list[float]) -> tuple[float, float]:
    """The middle 95% of the medians of what is drawn from the ratios."""
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return medians[50], medians[-51]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--steps", type=int, default=40, help="of each turn")
    parser.add_argument("--width", type=int, default=200)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        both = [started(folder, options, recorded) for recorded in (False, True)]
        for process in both:
            turn(process, WARM_UP)
        times = [[turn(process, options.steps) for process in both] for _ in range(options.turns)]
        for process in both:
            process.communicate()
    ratios = [recorded / plain for plain, recorded in times]
    low, high = interval(ratios)
    plain = statistics.median(plain for plain, _ in times)
    print(
        f"a step of {plain:.2f} ms costs {statistics.median(ratios) - 1:+.2%} "
        f"recorded ({low - 1:+.2%} to {high - 1:+.2%}, {options.turns} turns)"
    )


if __name__ == "__main__":
    main()
