"""Time the arms in alternation, one mode after the other."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from tclint.records import record
from tclint.verify.answers import Done, Drawn, EagerSample, Finished, Prepared, Recompiled, Sample
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
from tclint.verify.results import Arm, Compiled, Untimed
from tclint.verify.speed import Speed, Speedup, Timing
from tclint.verify.verdict import apart, judge_pair, timing, worth_repeating

# Ways for a child to end that no part of the target but the compiled call can be blamed for.
_FAULTS = ("crash", "device", "exit", "out-of-memory", "timeout")
# No fault of the target or of a layer: there is no compiler on this machine.
_NO_COMPILER = ("InvalidCxxCompiler", "No working C++ compiler", "TritonMissing")
NO_TIME = "the time limit was reached before it was this one's turn"
_SHORT_ROUND_MS = 100.0


_Samples = dict[int, list[float]]


@record(frozen=True)
class _Ready:
    child: Child
    compiled: Compiled
    draws: bool


def compile_arms(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path, tell: Tell = silent
) -> tuple[Arm, ...]:
    """Compile each arm with the real backend and compare its first call; nothing is timed."""
    done = list(arms)
    for mode in options.modes:
        for number, side in enumerate(sides):
            if options.out_of_time:
                done[number] = _without(done[number], Untimed(mode, NO_TIME))
                continue
            tell(f"{_of(side, sides)}compiled numbers, {named(options.backend, mode)}")
            cache = new_cache(desk, side, f"timing-{mode}")
            with options.start(cache) as child:
                result = _prepare(child, side, arms[number], options, desk, mode)
                if isinstance(result, _Ready):
                    result = replace(result, compiled=_like_drawn(result))
            done[number] = _with(done[number], result)
    return tuple(done)


def named(backend: str, mode: str) -> str:
    """A backend with its mode, where it has one."""
    return backend if mode == "default" else f"{backend}, {mode}"


def _of(side: Side, sides: Sequence[Side]) -> str:
    return f"{side.name}: " if len(sides) > 1 else ""


def race_eager(sides: Sequence[Side], options: Options, desk: Path) -> Speedup:
    """Whether the second of two sides is slower in eager code than the first; see judge_pair."""
    try:
        old, new = _eager_times(sides, options, desk, "eager")
        if not apart(old, new) or new.median < old.median:
            return judge_pair(old, new, None, None)
        return judge_pair(old, new, *_eager_times(sides, options, desk, "eager-again"))
    except ChildError as failed:
        return Speedup("", None, f"no times: {failed.failure.message}")


def _eager_times(
    sides: Sequence[Side], options: Options, desk: Path, use: str
) -> tuple[Timing, ...]:
    with ExitStack() as stack:
        children = []
        for side in sides:
            child = stack.enter_context(options.start(new_cache(desk, side, use)))
            child.ask("prepare_eager", Done, **request_for(side, options, desk))
            children.append(child)
        samples: list[list[float]] = [[] for _ in children]
        for turn in range(options.rounds):
            order = range(len(children)) if turn % 2 == 0 else reversed(range(len(children)))
            for number in order:
                samples[number].append(children[number].ask("sample_eager", EagerSample).eager)
            if turn + 1 >= options.fewest_rounds and max(s[-1] for s in samples) > _SHORT_ROUND_MS:
                break
    return tuple(map(timing, samples))


def _with(arm: Arm, result: _Ready | Untimed) -> Arm:
    if isinstance(result, Untimed):
        return _without(arm, result)
    return replace(arm, compiled=(*arm.compiled, result.compiled))


def time_arms(
    sides: Sequence[Side], arms: tuple[Arm, ...], options: Options, desk: Path, tell: Tell = silent
) -> tuple[Arm, ...]:
    """Add speeds to the arms, or the reasons why there are none."""
    timed = arms
    for mode in options.modes:
        if options.out_of_time:
            timed = tuple(_without(arm, Untimed(mode, NO_TIME)) for arm in timed)
            continue
        tell(f"speed, {named(options.backend, mode)}")
        timed = _time_mode(sides, timed, options, desk, mode, tell)
        if worth_repeating(timed, mode) and not options.out_of_time:
            tell(f"speed once more, {named(options.backend, mode)}")
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
            child = stack.enter_context(options.start(cache))
            result = _prepare(child, side, arms[number], options, desk, mode)
            if isinstance(result, Untimed):
                return arms
            ready[number] = result
            if not _warmed(result, arms[number], silent)[1]:
                return arms
        try:
            eager, compiled = _sample(ready, options)
        except ChildError:
            return arms
    return tuple(
        replace(arm, speeds=tuple(_repeated(s, mode, eager[n], compiled[n]) for s in arm.speeds))
        for n, arm in enumerate(arms)
    )


def _repeated(speed: Speed, mode: str, eager: list[float], compiled: list[float]) -> Speed:
    if speed.mode != mode:
        return speed
    return replace(speed, again=timing(compiled), eager_again=timing(eager))


def _time_mode(
    sides: Sequence[Side],
    arms: tuple[Arm, ...],
    options: Options,
    desk: Path,
    mode: str,
    tell: Tell,
) -> tuple[Arm, ...]:
    timed = list(arms)
    with ExitStack() as stack:
        ready: dict[int, _Ready] = {}
        for number, side in enumerate(sides):
            cache = new_cache(desk, side, f"timing-{mode}")
            child = stack.enter_context(options.start(cache))
            result = _prepare(child, side, arms[number], options, desk, mode)
            timed[number] = _with(arms[number], result)
            if isinstance(result, _Ready):
                ready[number] = result
        for number in list(ready):
            timed[number], warm = _warmed(ready[number], timed[number], tell)
            if not warm:
                del ready[number]
        try:
            speeds = _race(ready, options, mode) if ready else {}
        except ChildError as failed:
            said = Untimed(mode, failed.failure.message, failed.failure.kind in _FAULTS)
            return tuple(_without(arm, said) for arm in timed)
    for number, speed in speeds.items():
        timed[number] = replace(timed[number], speeds=(*arms[number].speeds, speed))
    return tuple(timed)


def _warmed(one: _Ready, arm: Arm, tell: Tell) -> tuple[Arm, bool]:
    """Warm an arm up; where that fails the arm keeps what had been compiled again by then."""

    def hear(so_far: Recompiled) -> None:
        count = len(so_far.recompiles)
        tell(f"{count} recompile{'' if count == 1 else 's'} while warming up")

    try:
        one.child.ask("warm_up", Done, hear, Recompiled)
    except ChildError as failed:
        told = failed.so_far
        again = replace(one.compiled, recompiles=told.recompiles) if told else one.compiled
        said = Untimed(one.compiled.mode, failed.failure.message, failed.failure.kind in _FAULTS)
        known = (*(c for c in arm.compiled if c.mode != again.mode), again)
        return _without(replace(arm, compiled=known), said), False
    return arm, True


def _without(arm: Arm, reason: Untimed) -> Arm:
    return replace(arm, untimed=(*arm.untimed, reason))


def _prepare(
    child: Child, side: Side, arm: Arm, options: Options, desk: Path, mode: str
) -> _Ready | Untimed:
    assert arm.probe is not None
    probe, request = arm.probe, request_for(side, options, desk)
    more: dict[str, Any] = {
        "backend": options.backend,
        "mode": mode,
        "whole": not probe.itself,
    }
    try:
        answer = child.ask("prepare", Prepared, **request, **more)
    except ChildError as failed:
        fault = failed.failure.kind in _FAULTS
        return Untimed(mode, f"{failed.failure.kind}: {failed.failure.message}", fault)
    if answer.like_eager is None:
        fault = not any(text in answer.problem for text in _NO_COMPILER)
        return Untimed(mode, f"the compiled call raised {answer.problem}", fault)
    compiled = Compiled(mode, options.backend, answer.like_eager, answer.cold_start)
    return _Ready(child, compiled, answer.draws)


def _like_drawn(one: _Ready) -> Compiled:
    """Where random numbers kept the first call from being compared, compare it without them.

    What was compiled is lost by that.
    """
    if not one.draws:
        return one.compiled
    try:
        return replace(one.compiled, like_eager=one.child.ask("compare_drawn", Drawn).like_eager)
    except ChildError as failed:
        said = f"{one.compiled.like_eager.detail}; {failed.failure.message}"
        return replace(one.compiled, like_eager=Equality("unknown", said))


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
            answer = ready[number].child.ask("sample", Sample, eager_first=turn % 2 == 0)
            eager[number].append(answer.eager)
            compiled[number].append(answer.compiled)
        slow = any(
            samples[-1] > _SHORT_ROUND_MS for samples in (*eager.values(), *compiled.values())
        )
        if slow and turn + 1 >= options.fewest_rounds:
            break
    return eager, compiled


def _speed(arm: _Ready, eager: list[float], compiled: list[float], mode: str) -> Speed:
    end = arm.child.ask("finish", Finished)
    like_eager = _like_drawn(arm).like_eager
    return Speed(
        cold_start=arm.compiled.cold_start,
        eager=timing(eager),
        compiled=timing(compiled),
        memory=end.memory,
        syncs=end.syncs,
        recompiles=end.recompiles,
        like_eager=like_eager,
        mode=mode,
        eager_memory=end.eager_memory,
        kernels=end.kernels,
        eager_kernels=end.eager_kernels,
        phases=end.phases,
        cudagraph_skips=end.cudagraph_skips,
    )
