"""What a copied number costs: `.item()`, `.detach()` and `.detach().clone()`, eager and compiled.

The three variants of one step take turns within one run. Prints a row for each variant and mode:
the median time of a step, its ratio to the step with `.detach()` with a 95% interval of the
bootstrap over rounds, and the kernels (or, without a GPU, the operators) of a step.

    python -m benchmarks.clone [--rounds 60]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
STEPS = 200
Step = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def read(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * scale[0].item()) + 1


def kept(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * scale[0].detach()) + 1


def copied(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    return torch.relu(x * scale[0].detach().clone()) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=60)
    rounds = parser.parse_args().rounds
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU"
    print(f"torch {torch.__version__}, {name}, {STEPS} steps a round, {rounds} rounds")
    for mode in ("eager", "compiled"):
        steps: dict[str, Step] = {"item": read, "detach": kept, "detach.clone": copied}
        if mode == "compiled":
            steps = {title: torch.compile(step) for title, step in steps.items()}
        _compare(mode, steps, rounds)


def _compare(mode: str, steps: dict[str, Step], rounds: int) -> None:
    x, scale = torch.rand(1024, 1024, device=DEVICE), torch.rand(4, device=DEVICE)
    times: dict[str, list[float]] = {title: [] for title in steps}
    for _ in range(rounds + 3):
        for title in random.sample(list(steps), len(steps)):
            times[title].append(_timed(steps[title], x, scale))
    taken = {title: values[3:] for title, values in times.items()}  # the first rounds warm up
    for title, step in steps.items():
        median = statistics.median(taken[title]) * 1e6
        low, high = _interval(taken[title], taken["detach"])
        launches = _launches(step, x, scale)
        print(f"{mode:9}{title:13}{median:8.2f} us  x{low:.3f} to {high:.3f}  {launches} kernels")


def _timed(step: Step, x: torch.Tensor, scale: torch.Tensor) -> float:
    _wait()
    start = time.perf_counter()
    for _ in range(STEPS):
        step(x, scale)
    _wait()
    return (time.perf_counter() - start) / STEPS


def _wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def _interval(one: list[float], other: list[float]) -> tuple[float, float]:
    """The 95% interval of the ratio of medians, rounds drawn in pairs."""
    chance = random.Random(0)
    pairs = list(zip(one, other, strict=True))
    ratios = []
    for _ in range(1000):
        drawn = chance.choices(pairs, k=len(pairs))
        ratios.append(
            statistics.median(a for a, _ in drawn) / statistics.median(b for _, b in drawn)
        )
    ratios.sort()
    return ratios[25], ratios[975]


def _launches(step: Step, x: torch.Tensor, scale: torch.Tensor) -> int:
    kind = ProfilerActivity.CUDA if DEVICE == "cuda" else ProfilerActivity.CPU
    with profile(activities=[kind]) as seen:
        step(x, scale)
        _wait()
    if DEVICE == "cuda":
        return sum(e.count for e in seen.key_averages() if not e.key.startswith("cuda"))
    return sum(e.count for e in seen.key_averages() if e.key.startswith("aten::"))


if __name__ == "__main__":
    main()
