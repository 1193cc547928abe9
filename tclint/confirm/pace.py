"""How fast compiled code is after each kind of remedy, and which kinds it is too slow with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tclint.confirm.trials import Items, Trials
from tclint.records import record
from tclint.report.fixes.outcome import Measured, Pace, Worth
from tclint.verify.events import Equality
from tclint.verify.verdict import is_plain, judge_speed

if TYPE_CHECKING:
    from tclint.confirm.bench import Bench
    from tclint.verify.results import Arm
    from tclint.verify.speed import Speed

_MODE = "default"
_EQUAL = Equality("identical")


@record(frozen=True)
class Step:
    """What one kind of remedy was worth, all that is kept with it, and what was kept before."""

    worth: Worth
    trials: Trials
    items: Items
    base: Items


def with_times(
    benches: Sequence[Bench], steps: Sequence[Step], tell: Callable[[str], None]
) -> list[Step]:
    """Time compiled code before the first step and after each, all in turns.

    The last step that no state before was faster than is kept, with what it rests on.
    """
    if not steps or not all(bench.job.options.speed for bench in benches):
        return [*steps]
    raced = []
    for number, bench in enumerate(benches):
        tell(f"{bench.job.name}: speed of compiled code")
        raced.append(bench.speeds([step.trials.state(step.items, number) for step in steps]))
    told = [
        replace(step, worth=replace(step.worth, pace=tuple(_paces(benches, raced, number))))
        for number, step in enumerate(steps)
    ]
    last = next(n for n in reversed(range(len(steps) + 1)) if not _is_slower(raced, n))
    return [
        replace(step, worth=replace(step.worth, kept=number < last))
        for number, step in enumerate(told)
    ]


def _paces(benches: Sequence[Bench], raced: Sequence[tuple[Arm, ...]], step: int) -> Iterator[Pace]:
    for bench, arms in zip(benches, raced, strict=True):
        yield _pace(bench.job.name, arms[step], arms[step + 1])


def _pace(target: str, old: Arm, new: Arm) -> Pace:
    was, now = old.speed_in(_MODE), new.speed_in(_MODE)
    device = new.probe.device if new.probe is not None else ""
    judged = judge_speed((old, new), _EQUAL)
    if was is None or now is None:
        return Pace(target, device, judged.note)
    return Pace(
        target,
        device,
        judged.note,
        _measured(was),
        _measured(now),
        judged.ratio,
        judged.low,
        judged.high,
    )


def _measured(speed: Speed) -> Measured:
    launches = speed.kernels.launches if speed.kernels is not None else None
    syncs = len(speed.syncs) if speed.syncs is not None else None
    return Measured(speed.compiled.median, launches, syncs)


def _is_slower(raced: Sequence[tuple[Arm, ...]], number: int) -> bool:
    """True where compiled code was faster in some state before, by more than the noise."""
    return any(_lost(old, arms[number]) for arms in raced for old in arms[:number])


def _lost(old: Arm, new: Arm) -> bool:
    """True for what no longer runs, a difference that is plain, or one that was seen twice."""
    was, now = old.speed_in(_MODE), new.speed_in(_MODE)
    if was is None or now is None:
        return was is not None and any(one.fault for one in new.untimed)
    ratio = judge_speed((old, new), _EQUAL).ratio
    if ratio is None or ratio >= 1:
        return False
    return is_plain(ratio) or (was.again is not None and now.again is not None)
