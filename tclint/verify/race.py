"""Time the arms in alternation, and judge whether one is faster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, quantiles

from tclint.verify.arms import Options, Side, new_cache, request_for
from tclint.verify.process import Child, ChildError
from tclint.verify.results import (
    Arm,
    Equality,
    Memory,
    Probe,
    Recompile,
    Speed,
    Timing,
    syncs_from,
)

_FEWEST_ROUNDS = 5
_SHORT_ROUND_MS = 100.0
# Quartiles further apart than this part of the median: the machine was busy with something else.
_NOISIEST = 0.5


@dataclass(frozen=True, slots=True)
class _Ready:
    child: Child
    cold_start: float
    like_eager: Equality


def time_arms(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path
) -> tuple[Arm, ...]:
    """Add speeds to the arms, or the reasons why there are none."""
    timed = list(arms)
    with ExitStack() as stack:
        ready: dict[int, _Ready] = {}
        for number, side in enumerate(sides):
            cache = new_cache(desk, side, "timing")
            child = stack.enter_context(Child(cache, options.device, options.time_limit))
            probe = arms[number].probe
            assert probe is not None
            result = _prepare(child, side, probe, options, desk)
            if isinstance(result, str):
                timed[number] = replace(arms[number], no_speed=result)
            else:
                ready[number] = result
        try:
            speeds = _race(ready, options) if ready else {}
        except ChildError as failed:
            return tuple(replace(arm, no_speed=failed.failure.message) for arm in timed)
    for number, speed in speeds.items():
        timed[number] = replace(arms[number], speed=speed)
    return tuple(timed)


def judge_speed(arms: tuple[Arm, ...], equality: Equality) -> tuple[float | None, str]:
    """The speedup, if it is outside the noise, and how to read it."""
    for arm in arms:
        if arm.speed is None:
            reason = arm.failure.message if arm.failure else arm.no_speed
            where = f"{arm.name}: " if len(arms) > 1 else ""
            return None, f"no speed: {where}{reason}"
    if len(arms) > 1 and equality.verdict == "unknown":
        return None, f"no speedup: the arms cannot be compared ({equality.detail})"
    after = arms[-1].speed
    first = arms[0].speed
    assert after is not None
    assert first is not None
    old = first.compiled if len(arms) > 1 else after.eager
    for one in (old, after.compiled):
        if one.spread > _NOISIEST * one.median:
            scatter = f"half of them within {one.lower:.3g} to {one.upper:.3g} ms"
            return None, f"no speedup: the times scatter too much ({scatter})"
    names = "compiled before / compiled after" if len(arms) > 1 else "eager / compiled"
    if old.lower <= after.compiled.upper and after.compiled.lower <= old.upper:
        return None, f"no measurable difference ({names})"
    return old.median / after.compiled.median, names


def timing(samples: Sequence[float]) -> Timing:
    """Median and quartiles of samples."""
    lower, _, upper = quantiles(samples, n=4, method="inclusive")
    return Timing(median(samples), lower, upper, len(samples))


def _prepare(child: Child, side: Side, probe: Probe, options: Options, desk: Path) -> _Ready | str:
    request = request_for(side, options, desk)
    more = {"backend": options.backend, "mode": options.mode, "whole": not probe.itself}
    try:
        answer = child.ask("prepare", **request, **more)
    except ChildError as failed:
        return failed.failure.message
    if answer["problem"]:
        return f"the compiled call raised {answer['problem']}"
    return _Ready(child, answer["cold_start"], Equality(**answer["like_eager"]))


def _race(ready: dict[int, _Ready], options: Options) -> dict[int, Speed]:
    """Time the arms in alternation, so that a drifting clock or a busy machine hits all alike."""
    eager: dict[int, list[float]] = {number: [] for number in ready}
    compiled: dict[int, list[float]] = {number: [] for number in ready}
    for turn in range(options.rounds):
        order = list(ready) if turn % 2 == 0 else list(reversed(ready))
        for number in order:
            answer = ready[number].child.ask("sample", eager_first=turn % 2 == 0)
            eager[number].append(answer["eager"])
            compiled[number].append(answer["compiled"])
        slow = any(
            samples[-1] > _SHORT_ROUND_MS for samples in (*eager.values(), *compiled.values())
        )
        if slow and turn + 1 >= _FEWEST_ROUNDS:
            break
    return {
        number: _speed(arm, timing(eager[number]), timing(compiled[number]))
        for number, arm in ready.items()
    }


def _speed(arm: _Ready, eager: Timing, compiled: Timing) -> Speed:
    end = arm.child.ask("finish")
    return Speed(
        cold_start=arm.cold_start,
        eager=eager,
        compiled=compiled,
        memory=Memory(**end["memory"]),
        syncs=syncs_from(end["syncs"]),
        recompiles=tuple(Recompile(**item) for item in end["recompiles"]),
        like_eager=arm.like_eager,
    )
