"""Judge whether one arm is faster than the other, or the noise too loud to tell."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from statistics import median, quantiles

from tclint.report.rounded import rounded
from tclint.verify.events import Equality
from tclint.verify.results import Arm
from tclint.verify.speed import Speed, Speedup, Timing

# Quartiles further apart than this part of the median: the machine was busy with something else.
_NOISIEST = 0.5
_RESAMPLES = 2000
# Two processes that run the same program have been seen a fifth apart on a busy machine.
_PLAIN = 1.5
# Less than this part is what one process differs from the next by, however long both are timed.
_LEAST = 0.05
# Nor does anybody mind what a few guards cost in a call.
_LEAST_MS = 0.002
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
            scatter = f"half of them within {rounded(one.lower, 3)} to {rounded(one.upper, 3)} ms"
            note = f"no speedup: the times vary too much ({scatter})"
            return Speedup(mode, None, note)
    names = "compiled before / compiled after" if len(arms) > 1 else "eager / compiled"
    low, high = interval(old, new)
    if not apart(old, new):
        return Speedup(mode, None, f"no measurable difference ({names})", low, high)
    once, twice = speeds[0].again, speeds[-1].again
    if len(arms) > 1 and once is not None and twice is not None:
        if not apart(once, twice) or (old.median > new.median) != (once.median > twice.median):
            note = f"no measurable difference: not seen again in fresh processes ({names})"
            return Speedup(mode, None, note, low, high)
        bounds = [one for one in (low, high, *interval(once, twice)) if one is not None]
        low, high = min(bounds, default=None), max(bounds, default=None)
    return Speedup(mode, old.median / new.median, names, low, high)


def judge_eager(arms: tuple[Arm, ...], modes: Sequence[str]) -> tuple[Speedup, ...]:
    """What became of eager code, after over before, in each mode that timed both arms."""
    pairs = [(mode, arms[0].speed_in(mode), arms[-1].speed_in(mode)) for mode in modes]
    return tuple(
        replace(judge_pair(old.eager, new.eager, old.eager_again, new.eager_again), mode=mode)
        for mode, old, new in pairs
        if len(arms) > 1 and old is not None and new is not None
    )


def judge_pair(
    old: Timing, new: Timing, old_again: Timing | None, new_again: Timing | None
) -> Speedup:
    """The ratio of eager code, after over before: above one it got slower; None: not to be told.

    Where there is a second pair of processes, a difference has to show in it as well. Without one,
    it has to be plain.
    """
    # However much times scatter: where nearly all of one are far above those of the other, they do
    # not do so by chance.
    far = max(new.lower / old.upper, old.lower / new.upper) > _PLAIN
    for one in (old, new, old_again, new_again):
        if one is not None and one.spread > _NOISIEST * one.median and not far:
            return Speedup("", None, "the times scatter too much")
    low, high = interval(new, old)
    names = f"{rounded(old.median, 3)} → {rounded(new.median, 3)} ms"
    ratio = new.median / old.median
    felt = abs(ratio - 1) >= _LEAST and abs(new.median - old.median) >= _LEAST_MS
    if not felt or not apart(old, new):
        return Speedup("", None, f"no measurable difference ({names})", low, high)
    if old_again is None or new_again is None:
        if is_plain(ratio):
            return Speedup("", ratio, names, low, high)
        return Speedup("", None, f"too small to be measured with one pair of processes ({names})")
    if not apart(old_again, new_again) or (ratio > 1) != (new_again.median > old_again.median):
        return Speedup("", None, f"not seen again in fresh processes ({names})", low, high)
    bounds = [one for one in (low, high, *interval(new_again, old_again)) if one is not None]
    return Speedup("", ratio, names, min(bounds, default=None), max(bounds, default=None))


def is_plain(ratio: float) -> bool:
    """Whether two processes of one program never differ so much."""
    return not 1 / _PLAIN <= ratio <= _PLAIN


def worth_repeating(arms: tuple[Arm, ...], mode: str) -> bool:
    """Whether two arms differ so little that two processes of one program might, too.

    A loss is measured twice however large it is: another program on the machine can slow down one
    of two processes all the time that it runs.
    """
    speeds = [arm.speed_in(mode) for arm in arms]
    first, last = speeds[0], speeds[-1]
    if len(arms) < 2 or first is None or last is None:
        return False
    return any(
        apart(one, other) and (one.median < other.median or not is_plain(one.median / other.median))
        for one, other in ((first.compiled, last.compiled), (first.eager, last.eager))
    )


def apart(old: Timing, new: Timing) -> bool:
    """Whether two forms differ by more than their noise."""
    low, high = interval(old, new)
    if low is not None and high is not None and low <= 1.0 <= high:
        return False
    return old.lower > new.upper or new.lower > old.upper


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
