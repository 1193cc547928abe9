"""Judge whether one arm is faster than the other, or the noise too loud to tell."""

from __future__ import annotations

import random
from collections.abc import Sequence
from statistics import median, quantiles

from tclint.verify.events import Equality
from tclint.verify.results import Arm
from tclint.verify.speed import Speed, Speedup, Timing

# Quartiles further apart than this part of the median: the machine was busy with something else.
_NOISIEST = 0.5
_RESAMPLES = 2000
_TAIL = 0.025


def timing(samples: Sequence[float]) -> Timing:
    """Median and quartiles of samples."""
    lower, _, upper = quantiles(samples, n=4, method="inclusive")
    return Timing(median(samples), lower, upper, len(samples), tuple(samples))


def judge_modes(
    arms: tuple[Arm, ...], equality: Equality, modes: Sequence[str]
) -> tuple[Speedup, ...]:
    """One verdict a mode."""
    return tuple(judge_speed(arms, equality, mode) for mode in modes)


def judge_speed(arms: tuple[Arm, ...], equality: Equality, mode: str = "default") -> Speedup:
    """The speedup in one mode, if it is outside the noise, and how to read it."""
    speeds: list[Speed] = []
    for arm in arms:
        speed = arm.speed_in(mode)
        if speed is None:
            reason = arm.failure.message if arm.failure else arm.no_speed_in(mode)
            where = f"{arm.name}: " if len(arms) > 1 else ""
            return Speedup(mode, None, f"no speed: {where}{reason}")
        speeds.append(speed)
    if len(arms) > 1 and equality.verdict == "unknown":
        note = f"no speedup: the arms cannot be compared ({equality.detail})"
        return Speedup(mode, None, note)
    new = speeds[-1].compiled
    old = speeds[0].compiled if len(arms) > 1 else speeds[-1].eager
    for one in (old, new):
        if one.spread > _NOISIEST * one.median:
            scatter = f"half of them within {one.lower:.3g} to {one.upper:.3g} ms"
            note = f"no speedup: the times scatter too much ({scatter})"
            return Speedup(mode, None, note)
    names = "compiled before / compiled after" if len(arms) > 1 else "eager / compiled"
    low, high = interval(old, new)
    if low is not None and high is not None and low <= 1.0 <= high:
        return Speedup(mode, None, f"no measurable difference ({names})", low, high)
    if old.lower <= new.upper and new.lower <= old.upper:
        return Speedup(mode, None, f"no measurable difference ({names})", low, high)
    return Speedup(mode, old.median / new.median, names, low, high)


def interval(old: Timing, new: Timing) -> tuple[float | None, float | None]:
    """Bounds of the ratio of medians with 95% confidence, by resampling rounds.

    Samples of one round were taken side by side, so that they are drawn together.
    """
    pairs = list(zip(old.values, new.values, strict=False))
    if len(pairs) < 3:
        return None, None
    # Seeded: one report gives one interval. This is statistics, not secrecy.
    draw = random.Random(0)
    ratios = []
    for _ in range(_RESAMPLES):
        again = draw.choices(pairs, k=len(pairs))
        ratios.append(median(one for one, _ in again) / median(other for _, other in again))
    ratios.sort()
    edge = int(_RESAMPLES * _TAIL)
    return ratios[edge], ratios[-edge - 1]
