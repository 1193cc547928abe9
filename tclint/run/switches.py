"""What it takes to go into compiled graphs and out of them, read from the profiler's trace.

Samples hardly see it: who looks at another thread gets a turn when that one lets go of the
interpreter's lock, which it does within torch's operators, and not between graphs.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from statistics import median

from tclint.records import record
from tclint.run.intervals import NOTHING, Interval, of_median
from tclint.run.recorded import Recorded
from tclint.run.spans import (
    GRADIENT,
    MICRO,
    REGION,
    Event,
    end_of,
    ends_of_steps,
    frame_of,
    holds,
    start_of,
    steps_in,
)

_LOOKUP = "TorchDynamo Cache Lookup"
_GRAPH = "## Call CompiledFxGraph"
_FORWARD = "CompiledFunction"
_RESUMES = "torch_dynamo_resume_in_"


@record(frozen=True)
class Switches:
    """The compiled graphs that a step runs: how many of each frame, and what is around one.

    ``forward`` and ``backward`` are milliseconds for a graph beside its own code, ``gradients`` how
    many graphs a backward runs. ``step`` is how long a step took while it was watched.
    """

    calls: Mapping[str, float]
    forward: Interval
    gradients: float
    backward: Interval
    step: float

    def of_breaks(self, one: Recorded, step: float) -> Interval:
        """Milliseconds of a step that would not be if no frame broke: one graph is needed."""
        broken = _broken_frames(one)
        every = sum(self.calls.values())
        more = sum(times for frame, times in self.calls.items() if frame in broken) - 1
        if more <= 0 or not self.step:
            return NOTHING
        spent = self.forward * more + self.backward * (self.gradients * more / every)
        return spent * min(1.0, step / self.step)  # the profiler slows the host


def _broken_frames(one: Recorded) -> Collection[str]:
    """The numbers of the frames that break, and of those in which they go on."""
    breaking = {entry.compile_id.partition("/")[0] for entry in one.breaks}
    resuming = {
        entry.compile_id.partition("/")[0]
        for entry in one.compiled
        if entry.function.startswith(_RESUMES)
    }
    return breaking | resuming


def switches(events: Sequence[Event], steps: int) -> Switches | None:
    """What the spans of a trace come to; None where no graph ran in them.

    ``steps`` is how many there are, unless the optimizer's own marks tell.
    """
    steps, ends = steps_in(events, steps), ends_of_steps(events)
    graphs = [event for event in events if str(event["name"]).startswith(_GRAPH)]
    regions, around = _Around(events, REGION), _Around(events, _FORWARD, whole=True)
    lookups, gradients = _Around(events, _LOOKUP), _Around(events, GRADIENT)
    calls: Counter[str] = Counter()
    forward, backward = [], []
    for graph in graphs:
        gradient, region = gradients.of(graph), regions.of(graph)
        if gradient is not None:
            backward.append(gradient["dur"] - graph["dur"])
        elif region is not None:
            calls[frame_of(region)] += 1
            outer, found = around.of(graph), lookups.before(region)
            out = 0.0 if outer is None else end_of(outer) - end_of(graph)
            looked = 0.0 if found is None else found["dur"]
            forward.append(looked + start_of(graph) - start_of(region) + out)
    if not calls:
        return None
    return Switches(
        {frame: times / steps for frame, times in calls.items()},
        of_median(forward) * (1 / MICRO),
        len(backward) / steps,
        of_median(backward) * (1 / MICRO),
        median([b - a for a, b in pairwise(ends)]) / MICRO if len(ends) > 1 else 0.0,
    )


class _Around:
    """The spans of one name, to find the innermost around another one, or the last before it."""

    def __init__(self, events: Sequence[Event], name: str, *, whole: bool = False) -> None:
        named = (e for e in events if str(e["name"]).startswith(name))
        self._spans = sorted((e for e in named if not whole or e["name"] == name), key=start_of)
        self._starts = [start_of(event) for event in self._spans]

    def of(self, inner: Event) -> Event | None:
        """The innermost one that holds a span of the same thread."""
        for at in range(bisect_right(self._starts, start_of(inner)) - 1, -1, -1):
            if holds(self._spans[at], inner):
                return self._spans[at]
        return None

    def before(self, span: Event) -> Event | None:
        """The last one that began before a span of the same thread."""
        for at in range(bisect_right(self._starts, start_of(span)) - 1, -1, -1):
            if self._spans[at].get("tid") == span.get("tid"):
                return self._spans[at]
        return None
