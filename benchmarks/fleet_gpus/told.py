"""What the lines of a log come to: who was alone, which GPUs were used, and whether it shows."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any, Final

PAGE: Final = Path(__file__).parents[2] / "docs" / "benchmark-fleet.md"
TITLE: Final = "## Two GPUs"
ONE: Final = "ray-1"
_DRAWS: Final = 10_000
_ENOUGH: Final = 5
"""Units that an interval says something of."""

Lines = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Span:
    """When a unit ran, and on which GPU: as its processes saw it, and as they were told."""

    unit: str
    start: float
    end: float
    gpu: str
    visible: str


@dataclass(frozen=True, slots=True)
class Figures:
    """Milliseconds of a unit's calls."""

    eager: float
    compiled: float


@dataclass(frozen=True, slots=True)
class Run:
    """One run of all units."""

    name: str
    spans: tuple[Span, ...]
    cut_off: tuple[Span, ...]
    figures: Mapping[str, Figures]
    failed: tuple[str, ...]

    @property
    def makespan(self) -> float:
        """Seconds from the first start to the last end."""
        return max(one.end for one in self.spans) - min(one.start for one in self.spans)

    @property
    def gpus(self) -> tuple[str, ...]:
        """The GPUs that units ran on."""
        return tuple(sorted({one.gpu for one in self.spans}))


def runs_of(log_lines: Lines) -> tuple[Run, ...]:
    """The runs of a log, in their order; what never ended is left out."""
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for one in log_lines:
        found[one["run"]].append(one)
    runs = (_run(name, told) for name, told in found.items())
    return tuple(one for one in runs if one.spans)


def _run(name: str, told: Lines) -> Run:
    started: dict[str, float] = {}
    spans = []
    for one in told:
        if "unit" not in one:
            continue
        if one["is_start"]:
            started[one["unit"]] = one["time"]
        elif one["unit"] in started:
            spans.append(_span(one, started.pop(one["unit"]), told))
    cut_off = tuple(_last_seen(unit, start, told) for unit, start in started.items())
    results = [one for one in told if "result" in one]
    timed = {
        one["result"]: Figures(first["eager"], first["compiled"])
        for one in results
        for first in one["speeds"][:1]
        if first["eager"] and first["compiled"]
    }
    failed = tuple(one["result"] for one in results if one["result"] not in timed)
    return Run(name, tuple(spans), cut_off, timed, failed)


def _last_seen(unit: str, start: float, told: Lines) -> Span:
    """Of a unit that never ended: until a process of its own said something for the last time."""
    times = [one["time"] for one in told if one.get("target") == unit and one["time"] >= start]
    return _span({"unit": unit, "time": max(times, default=start)}, start, told)


def _span(end: Mapping[str, Any], start: float, told: Lines) -> Span:
    """Processes of a unit that saw several GPUs between its start and its end name them all."""
    seen = {
        (one["gpu"], one["visible"])
        for one in told
        if one.get("target") == end["unit"] and start <= one["time"] <= end["time"]
    }
    gpus = ",".join(sorted({gpu for gpu, _ in seen}))
    visible = " ".join(sorted({visible for _, visible in seen}))
    return Span(end["unit"], start, end["time"], gpus, visible)


def overlaps(run: Run) -> list[tuple[Span, Span]]:
    """Pairs of units that ran on one GPU at the same time, be they finished or cut off."""
    spans = sorted((*run.spans, *run.cut_off), key=lambda one: one.start)
    return [
        (first, second)
        for number, first in enumerate(spans)
        for second in spans[number + 1 :]
        if second.start < first.end and _seen(first) & _seen(second)
    ]


def _seen(span: Span) -> set[str]:
    return set(filter(None, span.gpu.split(",")))


def ratio(values: Iterable[float]) -> tuple[float, float, float]:
    """The geometric mean of ratios, with the 95% interval that drawing them again gives."""
    logs = [log(one) for one in values]
    draw = random.Random(0)
    means = sorted(fmean(draw.choices(logs, k=len(logs))) for _ in range(_DRAWS))
    low, high = means[_DRAWS // 40], means[-_DRAWS // 40]
    return exp(fmean(logs)), exp(low), exp(high)


def page(log_lines: Lines) -> str:
    """The section of the page."""
    runs = runs_of(log_lines)
    cards = " and ".join(sorted({one["card"] for one in log_lines if "card" in one}))
    torch = " and ".join(sorted({one["torch"] for one in log_lines if "torch" in one}))
    text = f"""\
{TITLE}

Measured by `python -m benchmarks.fleet_gpus` on one machine with two GPUs ({cards},
torch {torch}): units that are timed, each a small model under Inductor, through Ray and through
local processes. A unit's processes write down the GPU that they see, by its UUID; no two units may
run on one GPU at the same time.{_cut(runs)}

| run | units | GPUs | units on each | pairs that shared one | seconds a unit |
| --- | ---: | ---: | ---: | ---: | ---: |
{_rows(runs)}

Milliseconds of a call, eager and compiled:

{_times(runs)}
"""
    reference = next((one for one in runs if one.name == ONE), None)
    if reference is None or len(runs) == 1:
        return text
    return f"""\
{text}
The same over what one GPU of Ray's measured: geometric means over the units that both timed, the
least and the most of a unit, and of {_ENOUGH} units or more the 95% interval of the mean.

| run | units | eager | compiled |
| --- | ---: | ---: | ---: |
{chr(10).join(_compared(one, reference) for one in runs if one is not reference)}
"""


def _cut(runs: Iterable[Run]) -> str:
    ended = [one.name for one in runs if one.cut_off]
    told = f"{', '.join(ended)} was ended by a time limit: what it cut off is left out."
    return f"\n{told[:1].upper()}{told[1:]}" if ended else ""


def _rows(runs: Iterable[Run]) -> str:
    rows = []
    for one in runs:
        each = " + ".join(str(sum(s.gpu == gpu for s in one.spans)) for gpu in one.gpus)
        failed = f" ({len(one.failed)} without times)" if one.failed else ""
        rows.append(
            f"| {one.name} | {len(one.spans)}{failed} | {len(one.gpus)} | {each} "
            f"| {len(overlaps(one))} | {one.makespan / len(one.spans):.0f} |"
        )
    return "\n".join(rows)


def _times(runs: Sequence[Run]) -> str:
    units = dict.fromkeys(unit for one in runs for unit in one.figures)
    head = f"| unit | {' | '.join(one.name for one in runs)} |"
    rows = [f"| {unit} | {' | '.join(_time(one, unit) for one in runs)} |" for unit in units]
    return "\n".join([head, f"| --- |{' ---: |' * len(runs)}", *rows])


def _time(run: Run, unit: str) -> str:
    figures = run.figures.get(unit)
    return f"{figures.eager:.3f}, {figures.compiled:.3f}" if figures else ""


def _compared(run: Run, reference: Run) -> str:
    both = sorted(set(run.figures) & set(reference.figures))
    pairs = [(run.figures[one], reference.figures[one]) for one in both]
    eager = _spread([one.eager / other.eager for one, other in pairs])
    compiled = _spread([one.compiled / other.compiled for one, other in pairs])
    return f"| {run.name} | {len(both)} | {eager} | {compiled} |"


def _spread(ratios: Sequence[float]) -> str:
    if not ratios:
        return ""
    mean, low, high = ratio(ratios)
    text = f"{mean:.3f} ({min(ratios):.3f} to {max(ratios):.3f})"
    return f"{text}, {low:.3f} to {high:.3f}" if len(ratios) >= _ENOUGH else text


def put(section: str) -> None:
    """Put the section into the page, in the place of what it said before."""
    text = PAGE.read_text(encoding="utf-8")
    text = re.sub(rf"\n{TITLE}\n.*?(?=\n## |\Z)", "", text, flags=re.DOTALL)
    PAGE.write_text(f"{text.rstrip()}\n\n{section}", encoding="utf-8")
