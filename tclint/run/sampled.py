"""How much of the loop's time each stack that was seen stands for.

Code in C that keeps the interpreter's lock lets no other thread look: a sample stands for the time
since the one before. Steps that take far longer than others do something else: they are judged by
samples of their own, so that what every tenth step does is neither lost nor taken for usual.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from statistics import median

from tclint.records import record
from tclint.run.recorded import Place, Recorded, Steps

_MS = 1e6
_LONG = 2.0
"""A step is long that takes so many times what the median step takes."""
_ENOUGH = 100
"""Samples of a closer look that are enough to leave out those of now and then."""
_SEEN = 0.5
_FEW = 3
"""Samples stand for all long steps if they saw so many, or that share of their time."""
_FEWEST = 3
"""Fewer samples tell nothing of where the time goes."""
_RECORDER = "tclint_recorder"
_DEEP = 12
"""So many of the innermost frames tell whether the recorder itself was at work."""
Stack = tuple[Place, ...]


@record(frozen=True)
class Loop:
    """The steps that count, in milliseconds: what one takes in the mean and in the median.

    ``long`` are the numbers of those that take far longer; ``all_of_them`` the times of those that
    count, by number.
    """

    times: Mapping[int, float] = field(default_factory=dict)
    long: frozenset[int] = frozenset()

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.times)

    @property
    def mean(self) -> float:
        """Milliseconds of a step, so that all of them together take what the loop took."""
        return sum(self.times.values()) / len(self.times) if self.times else 0.0

    @property
    def usual(self) -> float:
        """Milliseconds of the median step."""
        return median(self.times.values()) if self.times else 0.0


@record(frozen=True)
class Sampled:
    """Milliseconds of the mean step by stack: of all steps, and the part that long ones have.

    ``steps`` says in which of the long steps a stack was seen; ``looks`` how many samples that
    counted alike would tell as much.
    """

    mean: float = 0.0
    stacks: Mapping[Stack, float] = field(default_factory=dict)
    long: Mapping[Stack, float] = field(default_factory=dict)
    steps: Mapping[Stack, frozenset[int]] = field(default_factory=dict)
    looks: float = 0.0


@record(frozen=True)
class _Hit:
    stack: Stack
    ms: float
    step: int
    at: int = 0


def loop_of(steps: Steps) -> Loop:
    """The steps after the warm-up that no window slowed; all of them if none is left."""
    slowed = {n for first, last in steps.watched for n in range(first, last + 1)}
    every = {n: (b - a) / _MS for n, (a, b) in enumerate(itertools.pairwise(steps.ends), start=1)}
    kept = {n: ms for n, ms in every.items() if n >= steps.warm_up and n not in slowed}
    times = kept or every
    most = _LONG * median(times.values()) if times else 0.0
    return Loop(times, frozenset(n for n, ms in times.items() if ms > most))


def sampled(one: Recorded) -> Sampled:
    """What the samples of a process stand for."""
    if one.steps is None:
        return Sampled()
    loop = loop_of(one.steps)
    if not loop.count:
        return Sampled()
    most = _LONG * loop.usual
    close, rare = _close(one, one.steps), _rare(one, one.steps, loop)
    (usual, long), (more, others) = (_apart(hits, one.steps.ends, most) for hits in (close, rare))
    usual += more if len(usual) < _ENOUGH else []
    long += others
    if len(usual) + len(long) < _FEWEST:
        return Sampled()
    spent = sum(loop.times[n] for n in loop.long)
    return _together(loop, _scaled(usual, loop, spent), _scaled_long(long, loop, spent))


def _apart(hits: Iterable[_Hit], ends: Sequence[int], most: float) -> tuple[list[_Hit], list[_Hit]]:
    """The samples of usual steps, and of long ones; none stands for what another step did."""
    usual, long = [], []
    for hit in hits:
        if any(_RECORDER in place.filename for place in hit.stack[-_DEEP:]):
            continue
        start = ends[hit.step - 1]
        if (ends[hit.step] - start) / _MS > most:
            long.append(_Hit(hit.stack, min(hit.ms, (hit.at - start) / _MS), hit.step, hit.at))
        else:
            usual.append(_Hit(hit.stack, min(hit.ms, most), hit.step, hit.at))
    return usual, long


def _scaled(hits: Sequence[_Hit], loop: Loop, long: float) -> list[_Hit]:
    """Samples of usual steps stand for all of these."""
    seen = sum(hit.ms for hit in hits)
    factor = (loop.mean - long / loop.count) / seen if seen else 0.0
    return [_Hit(hit.stack, hit.ms * factor, hit.step) for hit in hits]


def _scaled_long(hits: Sequence[_Hit], loop: Loop, long: float) -> list[_Hit]:
    """Samples of long steps stand for all of these, if they saw enough of them."""
    seen = sum(hit.ms for hit in hits)
    known = len({hit.step for hit in hits}) >= _FEW or seen >= _SEEN * long
    factor = long / seen if known and seen else 1.0
    return [_Hit(hit.stack, hit.ms * factor / loop.count, hit.step) for hit in hits]


def _together(loop: Loop, usual: Sequence[_Hit], long: Sequence[_Hit]) -> Sampled:
    stacks: Counter[Stack] = Counter()
    longs: Counter[Stack] = Counter()
    steps: dict[Stack, set[int]] = defaultdict(set)
    for hit in (*usual, *long):
        stacks[hit.stack] += hit.ms  # type: ignore[assignment]
    for hit in long:
        longs[hit.stack] += hit.ms  # type: ignore[assignment]
        steps[hit.stack].add(hit.step)
    whole = sum(hit.ms for hit in (*usual, *long))
    squares = sum(hit.ms**2 for hit in (*usual, *long))
    looks = whole**2 / squares if squares else 0.0
    in_steps = {stack: frozenset(found) for stack, found in steps.items()}
    return Sampled(loop.mean, stacks, longs, in_steps, looks)


def _close(one: Recorded, steps: Steps) -> Iterator[_Hit]:
    """The samples of the windows."""
    for samples in one.samples:
        before = steps.ends[samples.first - 1] if 0 < samples.first <= len(steps.ends) else 0
        for at, number in samples.hits:
            step = bisect_left(steps.ends, at)
            if 0 < step < len(steps.ends):
                gap = at - before if before else samples.interval
                yield _Hit(samples.stacks[number], max(0, gap) / _MS, step, at)
            before = at


def _rare(one: Recorded, steps: Steps, loop: Loop) -> Iterator[_Hit]:
    """The samples of all steps, but for those in steps that do not count."""
    if one.watch is None:
        return
    before = 0
    for at, number in one.watch.hits:
        step = bisect_left(steps.ends, at)
        if step in loop.times:
            gap = at - before if before else one.watch.interval
            yield _Hit(one.watch.stack(number), max(0, gap) / _MS, step, at)
        before = at
