"""How long the steps of two arms take: in turns, with an interval."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from .habits import Arm, Habit, World

WARM_UP = 3


class Turns(NamedTuple):
    """How many turns each arm takes, and of how many steps."""

    count: int
    steps: int


class Measured(NamedTuple):
    """Medians of a step in milliseconds, and what the remedy saves of the found one.

    ``saved`` is in parts of the step as found; ``low`` and ``high`` are the 95% interval.
    """

    found: float
    remedy: float
    saved: float
    low: float
    high: float


def measured(habit: Habit, world: World, turns: Turns) -> Measured:
    """Both arms in turns, each turn of some steps with one synchronization at the end."""
    found, remedy = habit.arms(world)
    for arm in (found, remedy):
        _turn(arm, world, WARM_UP)
    pairs = []
    for number in range(turns.count):
        # Who begins changes, so that neither is always the one after the other.
        first, second = (found, remedy) if number % 2 else (remedy, found)
        times = {id(arm): _turn(arm, world, turns.steps) for arm in (first, second)}
        pairs.append((times[id(found)], times[id(remedy)]))
    world.model.zero_grad(set_to_none=True)
    return _summary(pairs)


def shown_by_clock(work: Callable[[], object], turns: Turns) -> tuple[float, float]:
    """What a clock around some work says without waiting for the device, and what is true."""
    shown, true = [], []
    for _ in range(turns.count):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        work()
        shown.append((time.perf_counter() - begin) * 1e3)
        torch.cuda.synchronize()
        true.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(shown), statistics.median(true)


def same_bits(device: torch.device) -> dict[str, bool]:
    """Whether an average of many tensors at once has the bits of one after the other."""
    same = {}
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        torch.manual_seed(0)
        sizes = [int(n) for n in torch.randint(1, 5000, (200,))]
        averages = [torch.randn(n, device=device).to(dtype) for n in sizes]
        news = [torch.randn(n, device=device).to(dtype) for n in sizes]
        name = str(dtype).removeprefix("torch.")
        for decay in (0.999, 0.9):
            one = [
                a.clone().mul_(decay).add_(p, alpha=1 - decay)
                for a, p in zip(averages, news, strict=True)
            ]
            many = [a.clone() for a in averages]
            torch._foreach_mul_(many, decay)
            torch._foreach_add_(many, news, alpha=1 - decay)
            same[f"mul_ and add_, {name}, {decay}"] = all(map(torch.equal, one, many))
            one = [a.clone().lerp_(p, 1 - decay) for a, p in zip(averages, news, strict=True)]
            many = [a.clone() for a in averages]
            torch._foreach_lerp_(many, news, 1 - decay)
            same[f"lerp_, {name}, {decay}"] = all(map(torch.equal, one, many))
        many = [a.clone() for a in averages]
        torch._foreach_copy_(many, news)
        same[f"copy_, {name}"] = all(map(torch.equal, many, news))
    return same


def _turn(arm: Arm, world: World, steps: int) -> float:
    for prepare in arm.before_turn:
        prepare()
    _wait(world)
    start = time.perf_counter()
    for _ in range(steps):
        arm.step(world)
    _wait(world)
    return (time.perf_counter() - start) / steps * 1e3


def _wait(world: World) -> None:
    if world.device.type == "cuda":
        torch.cuda.synchronize()


def _summary(pairs: Sequence[tuple[float, float]]) -> Measured:
    found = statistics.median(one for one, _ in pairs)
    remedy = statistics.median(one for _, one in pairs)
    saved = [1 - after / before for before, after in pairs]
    draw = random.Random(0)
    medians = sorted(statistics.median(draw.choices(saved, k=len(saved))) for _ in range(1000))
    return Measured(found, remedy, statistics.median(saved), medians[25], medians[-26])
