"""One step as two lanes: what the host did from its start to its end, and when the GPU was busy."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from tclint.records import record
from tclint.run.gpu import Activity
from tclint.run.host import LINE, Key, Work
from tclint.run.recorded import Place, Recorded, Samples

ELSEWHERE = "elsewhere"
_BINS = 200
Doing = tuple[str, Key | None]
"""A kind of work, and the line that does it."""


@record(frozen=True)
class Span:
    """A stretch of a step, from 0 to 1: what kind of work, and the line that does it."""

    start: float
    end: float
    kind: str
    line: Key | None = None


@record(frozen=True)
class Timeline:
    """A step of ``milliseconds``; lanes are empty where nothing was seen of them.

    The two lanes are of different steps, each scaled to its own: the host's of all that were
    looked at, the GPU's of one.
    """

    milliseconds: float
    host: tuple[Span, ...] = ()
    gpu: tuple[Span, ...] = ()


def timeline(
    one: Recorded, work: Work, lines: Sequence[Key], activity: Activity | None, step: float
) -> Timeline:
    """The lanes of a usual step; ``lines`` are those that the report tells of one by one."""
    lanes = (_host(one, seen, work, lines) for seen in one.samples)
    host = next(filter(None, lanes), ())
    gpu = activity.one_step if activity is not None else ()
    return Timeline(step, host, tuple(Span(a, b, "kernels") for a, b in gpu))


def _host(one: Recorded, samples: Samples, work: Work, lines: Sequence[Key]) -> tuple[Span, ...]:
    """What most steps do at each place of a step: one alone has few samples."""
    ends = one.steps.ends if one.steps is not None else ()
    bins: dict[int, Counter[Doing]] = {}
    for at, number in samples.hits:
        n = bisect_right(ends, at)
        if 0 < n < len(ends):
            share = (at - ends[n - 1]) / (ends[n] - ends[n - 1])
            kind = _kind(work, samples.stacks[number], lines)
            bins.setdefault(int(share * _BINS), Counter())[kind] += 1
    most = [(n, bins[n].most_common(1)[0][0]) for n in sorted(bins)]
    return tuple(_spans(most))


def _kind(work: Work, stack: Sequence[Place], lines: Sequence[Key]) -> Doing:
    kind, key = work.stacks.get(tuple(stack), (ELSEWHERE, None))
    return (ELSEWHERE, key) if kind == LINE and key not in lines else (kind, key)


def _spans(bins: Sequence[tuple[int, Doing]]) -> Iterator[Span]:
    """A sample stands for the time until the next one."""
    runs = [(kind, next(found)[0]) for kind, found in groupby(bins, key=lambda one: one[1])]
    for n, ((kind, line), first) in enumerate(runs):
        until = runs[n + 1][1] if n + 1 < len(runs) else _BINS
        yield Span(first / _BINS if n else 0.0, until / _BINS, kind, line)


def shares(spans: Sequence[Span]) -> Mapping[str, float]:
    """How much of the step each kind has, the most first."""
    found: dict[str, float] = {}
    for span in spans:
        found[span.kind] = found.get(span.kind, 0.0) + span.end - span.start
    return dict(sorted(found.items(), key=lambda one: -one[1]))
