"""Run the arms of a comparison in child processes, and draw the conclusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from tclint.verify.process import Child, ChildError
from tclint.verify.results import (
    Arm,
    Equality,
    Memory,
    Probe,
    Recompile,
    Speed,
    TargetReport,
    Timing,
    probe_from,
    syncs_from,
)

_FEWEST_ROUNDS = 5
_SHORT_ROUND_MS = 100.0


@dataclass(frozen=True, slots=True)
class Options:
    """How to run the arms. ``memory_limit`` is in bytes; 0 sets none."""

    backend: str = "inductor"
    mode: str = "default"
    device: str | None = None
    time_limit: float = 600.0
    memory_limit: int = 0
    speed: bool = True
    rounds: int = 15


@dataclass(frozen=True, slots=True)
class Side:
    """One arm to run: ``target`` as written for its own ``root``, files overlaid by texts."""

    name: str
    target: str
    root: Path
    overlay: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Ready:
    child: Child
    cold_start: float
    like_eager: Equality


def verify_sides(target: str, sides: Sequence[Side], options: Options) -> TargetReport:
    """Probe each side in turn, time them together, and compare."""
    with TemporaryDirectory(prefix="tclint-verify-") as folder:
        desk = Path(folder)
        arms = _probe_all(sides, options, desk)
        equality = _equality(arms)
        if options.speed and all(arm.failure is None for arm in arms):
            arms = _time_all(sides, arms, options, desk)
    speedup, note = judge_speed(arms, equality)
    return TargetReport(target, arms, equality, speedup, note)


def judge_speed(arms: tuple[Arm, ...], equality: Equality) -> tuple[float | None, str]:
    """The speedup, if it is outside the noise, and how to read it."""
    for arm in arms:
        if arm.speed is None:
            reason = arm.no_speed or (arm.failure.message if arm.failure else "not measured")
            return None, f"no speed: {arm.name}: {reason}" if len(
                arms
            ) > 1 else f"no speed: {reason}"
    if len(arms) > 1 and equality.verdict == "unknown":
        return None, f"no speedup: the arms cannot be compared ({equality.detail})"
    after = arms[-1].speed
    first = arms[0].speed
    assert after is not None
    assert first is not None
    old = first.compiled if len(arms) > 1 else after.eager
    names = "compiled before / compiled after" if len(arms) > 1 else "eager / compiled"
    if old.lower <= after.compiled.upper and after.compiled.lower <= old.upper:
        return None, f"no measurable difference ({names})"
    return old.median / after.compiled.median, names


def timing(samples: Sequence[float]) -> Timing:
    """Median and quartiles of samples."""
    lower, _, upper = quantiles(samples, n=4, method="inclusive")
    return Timing(median(samples), lower, upper, len(samples))


def _probe_all(sides: Sequence[Side], options: Options, desk: Path) -> tuple[Arm, ...]:
    arms: list[Arm] = []
    for side in sides:
        follow = bool(arms)
        if follow and arms[0].failure is not None:
            arms.append(Arm(side.name, None, failure=arms[0].failure))
            continue
        arms.append(_probe(side, options, desk, follow=follow))
    return tuple(arms)


def _probe(side: Side, options: Options, desk: Path, *, follow: bool) -> Arm:
    with Child(_cache(desk, side, "probe"), options.device, options.time_limit) as child:
        try:
            answer = child.ask("probe", **_request(side, options, desk), follow=follow)
        except ChildError as failed:
            return Arm(side.name, None, failure=failed.failure)
    return Arm(side.name, probe_from(answer))


def _equality(arms: tuple[Arm, ...]) -> Equality:
    """What to say of the target: the first comparison that found a difference, else the last."""
    last = arms[-1].probe
    if last is None:
        return Equality("unknown", "the target did not run")
    verdicts = [v for v in (last.like_before, last.like_eager) if v is not None]
    return next((v for v in verdicts if v.verdict in {"different", "unknown"}), verdicts[0])


def _time_all(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path
) -> tuple[Arm, ...]:
    timed = list(arms)
    with ExitStack() as stack:
        ready: dict[int, _Ready] = {}
        for number, side in enumerate(sides):
            cache = _cache(desk, side, "timing")
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


def _prepare(child: Child, side: Side, probe: Probe, options: Options, desk: Path) -> _Ready | str:
    request = _request(side, options, desk)
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


def _request(side: Side, options: Options, desk: Path) -> dict[str, Any]:
    return {
        "target": side.target,
        "root": str(side.root),
        "overlay": dict(side.overlay),
        "device": options.device,
        "memory_limit": options.memory_limit,
        "desk": str(desk),
    }


def _cache(desk: Path, side: Side, use: str) -> Path:
    cache = desk / f"cache-{side.name}-{use}"
    cache.mkdir()
    return cache
