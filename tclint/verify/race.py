"""Time the arms in alternation, one mode after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tclint.records import record
from tclint.verify.arms import (
    Options,
    Side,
    Tell,
    cache_folder,
    new_cache,
    request_for,
    silent,
)
from tclint.verify.events import Equality
from tclint.verify.process import Child, ChildError
from tclint.verify.results import Arm, Probe, Untimed
from tclint.verify.speed import Speed
from tclint.verify.verdict import timing, worth_repeating
from tclint.verify.wire import rebuild

# Ways for a child to end that no part of the target but the compiled call can be blamed for.
_FAULTS = ("crash", "device", "exit", "out-of-memory", "timeout")
# No fault of the target or of a layer: there is no compiler on this machine.
_NO_COMPILER = ("InvalidCxxCompiler", "No working C++ compiler", "TritonMissing")
_FEWEST_ROUNDS = 5
_SHORT_ROUND_MS = 100.0


_Samples = dict[int, list[float]]


@record(frozen=True)
class _Ready:
    child: Child
    cold_start: float
    like_eager: Equality
    profile: str


def time_arms(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path, tell: Tell = silent
) -> tuple[Arm, ...]:
    """Add speeds to the arms, or the reasons why there are none."""
    timed = arms
    for mode in options.modes:
        tell(f"timing, {mode}")
        timed = _time_mode(sides, timed, options, desk, mode)
        if worth_repeating(timed, mode):
            timed = _time_again(sides, timed, options, desk, mode)
    return timed


def _time_again(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path, mode: str
) -> tuple[Arm, ...]:
    """Race once more in fresh processes that find their compiled code in the caches."""
    with ExitStack() as stack:
        ready: dict[int, _Ready] = {}
        for number, side in enumerate(sides):
            cache = cache_folder(desk, side, f"timing-{mode}")
            child = stack.enter_context(Child(cache, options.device, options.time_limit))
            probe = arms[number].probe
            assert probe is not None
            result = _prepare(child, side, probe, options, desk, mode)
            if isinstance(result, Untimed):
                return arms
            ready[number] = result
        try:
            _, compiled = _sample(ready, options)
        except ChildError:
            return arms
    return tuple(
        replace(arm, speeds=tuple(_repeated(speed, mode, compiled[n]) for speed in arm.speeds))
        for n, arm in enumerate(arms)
    )


def _repeated(speed: Speed, mode: str, compiled: list[float]) -> Speed:
    return replace(speed, again=timing(compiled)) if speed.mode == mode else speed


def _time_mode(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path, mode: str
) -> tuple[Arm, ...]:
    timed = list(arms)
    with ExitStack() as stack:
        ready: dict[int, _Ready] = {}
        for number, side in enumerate(sides):
            cache = new_cache(desk, side, f"timing-{mode}")
            trace = _trace_folder(options, side, mode)
            child = stack.enter_context(Child(cache, options.device, options.time_limit, trace))
            probe = arms[number].probe
            assert probe is not None
            result = _prepare(child, side, probe, options, desk, mode)
            if isinstance(result, Untimed):
                timed[number] = _without(arms[number], result)
            else:
                profile = str(trace / "profile.json") if trace else ""
                ready[number] = replace(result, profile=profile)
        try:
            speeds = _race(ready, options, mode) if ready else {}
        except ChildError as failed:
            said = Untimed(mode, failed.failure.message, failed.failure.kind in _FAULTS)
            return tuple(_without(arm, said) for arm in timed)
    for number, speed in speeds.items():
        timed[number] = replace(arms[number], speeds=(*arms[number].speeds, speed))
    return tuple(timed)


def _without(arm: Arm, reason: Untimed) -> Arm:
    return replace(arm, untimed=(*arm.untimed, reason))


def _trace_folder(options: Options, side: Side, mode: str) -> Path | None:
    if options.trace is None:
        return None
    name = re.sub(r"\W+", "_", side.target).strip("_")
    folder = options.trace.resolve() / f"{name}-{side.name}-{mode}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _prepare(
    child: Child, side: Side, probe: Probe, options: Options, desk: Path, mode: str
) -> _Ready | Untimed:
    request = request_for(side, options, desk)
    more = {"backend": options.backend, "mode": mode, "whole": not probe.itself}
    try:
        answer = child.ask("prepare", **request, **more)
    except ChildError as failed:
        fault = failed.failure.kind in _FAULTS
        return Untimed(mode, f"{failed.failure.kind}: {failed.failure.message}", fault)
    if answer["problem"]:
        fault = not any(text in answer["problem"] for text in _NO_COMPILER)
        return Untimed(mode, f"the compiled call raised {answer['problem']}", fault)
    return _Ready(child, answer["cold_start"], rebuild(Equality, answer["like_eager"]), "")


def _race(ready: dict[int, _Ready], options: Options, mode: str) -> dict[int, Speed]:
    eager, compiled = _sample(ready, options)
    return {
        number: _speed(arm, eager[number], compiled[number], mode) for number, arm in ready.items()
    }


def _sample(ready: dict[int, _Ready], options: Options) -> tuple[_Samples, _Samples]:
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
    return eager, compiled


def _speed(arm: _Ready, eager: list[float], compiled: list[float], mode: str) -> Speed:
    end: dict[str, Any] = arm.child.ask("finish", trace=arm.profile)
    record = {
        "cold_start": arm.cold_start,
        "mode": mode,
    }
    speed: Speed = rebuild(
        Speed, {**end, **record, "eager": None, "compiled": None, "like_eager": None}
    )
    return replace(speed, eager=timing(eager), compiled=timing(compiled), like_eager=arm.like_eager)
