"""One page that needs nothing else: the step, lines by price with their source, the cold start."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from tclint.diagnostics import Fix
from tclint.lint.links import on_web
from tclint.report.origin import origin
from tclint.report.painted import CODE_STYLE, painted_diff
from tclint.report.project import NAME
from tclint.report.repairs import fix_of
from tclint.report.rounded import rounded
from tclint.report.style import STYLE
from tclint.run.ablate import Ablation
from tclint.run.events import Event, Kind
from tclint.run.host import LINE, LOADING, Part
from tclint.run.lines import Line
from tclint.run.price import quiet_steps
from tclint.run.proof import Proof
from tclint.run.recorded import Compiled, Steps
from tclint.run.report import words
from tclint.run.report.verdict_words import listed, savings, verdict
from tclint.run.session import Answer, Rank, Ranked
from tclint.run.timeline import ELSEWHERE, Span, Timeline, shares
from tclint.verify.report.charts import Bar, Stack, bars, stacks

_TEMPLATE = "page.html"
_AROUND = 2
_SHOWN = 30
_WIDTH, _HEIGHT = 720, 120
_SPIKES = 200
_MS = 1e6
_NS = 1e9
_KINDS = {
    Part.FORWARD.value: "two",
    Part.BACKWARD.value: "three",
    Part.OPTIMIZER.value: "four",
    LINE: "warn",
    LOADING: "warn",
    ELSEWHERE: "one",
    "kernels": "good",
}
"""The colour of each kind of work in the timeline."""
_NAMES = {LINE: "a line of the table", "kernels": "GPU busy"}


def render(
    answer: Answer, root: Path, proof: Proof | None = None, ablation: Ablation | None = None
) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters["rounded"] = rounded
    pages.filters["prose"] = lambda text: Markup(_prose(text))
    return pages.get_template(_TEMPLATE).render(_content(answer, root, proof, ablation))


def _prose(text: str) -> str:
    """Words with code in backticks, as HTML."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _content(
    answer: Answer, root: Path, proof: Proof | None, ablation: Ablation | None
) -> dict[str, Any]:
    lines = [
        _line(n, one, answer, root)
        | {"measured": _measured(one, root, ablation), "diff": _diff(one.line)}
        for n, one in enumerate(words.ranked(answer)[:_SHOWN], start=1)
    ]
    return {
        "title": f"{NAME} run",
        "style": STYLE + CODE_STYLE,
        "command": words.command(answer),
        "ended": answer.ended,
        "origin": " · ".join([origin(root), *_ran_on(answer)]),
        "heads": [words.head(rank, answer) for rank in answer.ranks],
        "figures": [*_figures(answer)],
        "steps": [
            _steps(rank, rank.name if len(answer.ranks) > 1 else "")
            for rank in answer.ranks
            if rank.recorded.steps is not None
        ],
        "priced": answer.priced,
        "lines": lines,
        "prices": _prices(answer.dear, root),
        "drowned": [_drowned(one, answer, root) for one in answer.drowned],
        "drowns": f"{words.DROWNED[:1].upper()}{words.DROWNED[1:]}",
        "cheap": [words.place(one.line, root) for one in words.worthless(answer)],
        "unknown": [_unknown(one, root) for one in words.unknown(answer, _SHOWN)],
        "cold": _cold(answer),
        "recompiles": [*_recompiles(answer, root)],
        "ranks": _ranks(answer.ranks),
        "rank_rows": [*_rank_rows(answer)] if len(answer.ranks) > 1 else [],
        "apart": [*words.apart(answer, root)],
        "busy": any(rank.activity is not None for rank in answer.ranks),
        "timeline": _timeline(answer, root),
        "verdict": verdict(answer, root),
        "savings": [*savings(answer)] if answer.priced else [],
        "account": [*listed(answer, root)] if answer.priced else [],
        "proof": proof,
        "speed": "" if proof is None else words.speed(proof),
        "fixes": [
            (words.fixed_place(fix, root), fix.diagnostic.code, fix.message)
            for fix in (proof.fixed.fixes if proof else ())
        ],
        "notes": answer.notes,
    }


def _ran_on(answer: Answer) -> Iterator[str]:
    """The releases and the device of the recorded process."""
    if answer.first is None:
        return
    process = answer.first.recorded.process
    if process.torch is not None:
        yield f"torch {process.torch}"
    yield f"Python {process.python}"
    if process.device is not None:
        yield process.device


def _figures(answer: Answer) -> Iterator[tuple[str, str]]:
    first = answer.first
    if first is None:
        return
    if first.recorded.steps is not None:
        yield rounded(first.step.value, 4), "ms a step"
    for kind, noun in ((Kind.BREAK, "graph break"), (Kind.RECOMPILE, "recompile")):
        times = sum(event.kind is kind for event in first.events)
        if times:
            yield (*words.count(times, noun).split(" ", 1),)  # type: ignore[misc]
    if first.activity is not None:
        yield f"{first.idle_share:.0%}", "of the time the GPU is idle"
        yield f"{first.activity.launches / first.activity.steps:.0f}", "launches a step"
    if first.recorded.compiled:
        seconds = sum(one.seconds for one in first.recorded.compiled)
        cached = words.cached(first.recorded.compiled)
        yield f"{rounded(seconds, 3)} s", f"compiling{', ' * bool(cached)}{cached}"
    if first.recorded.memory is not None:
        yield f"{first.recorded.memory.peak / 2**30:.3g} GiB", "peak GPU memory"


def _line(number: int, one: Ranked, answer: Answer, root: Path) -> dict[str, Any]:
    return {
        "number": number,
        "ms": words.milliseconds(one),
        "interval": words.interval(one.price.total),
        "share": words.share(one, answer),
        "place": words.place(one.line, root),
        "says": words.says(one.line, answer),
        "remedy": words.remedy(one.line),
        "url": on_web(one.line.finding.url) if one.line.finding else None,
        "source": [*_source(one.line, answer)],
    }


def _measured(one: Ranked, root: Path, ablation: Ablation | None) -> str:
    return "" if ablation is None else words.measured(ablation.of(one.line), root)


def _source(line: Line, answer: Answer) -> Iterator[tuple[int, str, bool]]:
    """The lines around one, each with its number, and whether it is the one."""
    rows = answer.text_of(line.filename).splitlines()
    first = max(1, line.row - _AROUND)
    for row in range(first, min(len(rows), line.row + _AROUND) + 1):
        yield row, rows[row - 1], row == line.row


def _diff(line: Line) -> str:
    """What the fix of its finding makes of the line."""
    if line.result is None:
        return ""
    fix = fix_of(line.result)
    return painted_diff(line.result.file, fix.edits) if isinstance(fix, Fix) else ""


def _prices(dear: Sequence[Ranked], root: Path) -> str:
    return bars(
        [
            Bar(
                words.place(one.line, root),
                one.price.total.value,
                f"{words.milliseconds(one)} ms",
                lower=one.price.total.low,
                upper=one.price.total.high,
            )
            for one in dear[:_SHOWN]
        ]
    )


def _drowned(one: Ranked, answer: Answer, root: Path) -> tuple[str, ...]:
    line = one.line
    says, remedy = words.says(line, answer), words.remedy(line)
    return words.place(line, root), words.milliseconds(one), says, remedy


def _unknown(one: Ranked, root: Path) -> tuple[str, str]:
    event = next(event for event in one.line.events if not event.by_torch)
    return words.place(one.line, root), f"{words.event_words(event)}: {event.what}"


def _steps(rank: Rank, name: str) -> dict[str, Any]:
    """The time of each step, as points of a line from left to right."""
    steps = rank.recorded.steps
    assert steps is not None
    times = [(b - a) / _MS for a, b in pairwise(steps.ends)]
    usual = sorted(quiet_steps(steps))
    # Some steps compile: what they take would press all others flat.
    top = 1.5 * min(_quantile(usual, 0.95), 2 * _quantile(usual, 0.5)) if usual else 1.0
    wide = _WIDTH / max(1, len(times))
    points = [
        f"{(n + 0.5) * wide:.1f},{_HEIGHT - _HEIGHT * min(1.0, ms / top):.1f}"
        for n, ms in enumerate(times)
    ]
    return {
        "name": name,
        "points": " ".join(points),
        "spikes": [*_spikes(times, top)],
        "windows": [*_windows(steps, len(times))],
        "width": _WIDTH,
        "height": _HEIGHT,
        "top": rounded(top, 3),
        "count": len(times),
    }


def _spikes(times: Sequence[float], top: float) -> Iterator[tuple[float, float, str]]:
    """The steps that are slower than the chart is high, the slowest ones: where, how wide, what."""
    wide = _WIDTH / max(1, len(times))
    slow = sorted((n for n, ms in enumerate(times) if ms > top), key=lambda n: -times[n])
    for n in sorted(slow[:_SPIKES]):
        yield n * wide, max(wide, 1.5), f"step {n + 1}: {rounded(times[n], 3)} ms"


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _windows(steps: Steps, count: int) -> Iterator[tuple[float, float, str]]:
    """Steps that do not count; a command may end before all that was planned."""
    wide = _WIDTH / max(1, count)
    planned = [(0, steps.warm_up - 1, "warm-up")]
    planned += [(first, last, "the recorder looks closer") for first, last in steps.watched]
    for first, last, name in planned:
        if first <= last and first < count:
            yield first * wide, (min(last, count - 1) - first + 1) * wide, name


def _cold(answer: Answer) -> str:
    """What was compiled at the start, one below the other as time went by."""
    first = answer.first
    compiled = [one for one in first.recorded.compiled if one.seconds > 0] if first else []
    again = words.recompiled(compiled)
    cold = [one for one in compiled if one.compile_id not in again]
    begun = [one.at / _NS - one.seconds for one in cold]
    zero = min(begun, default=0.0)
    drawn = [
        replace(_stack(one), start=max(0.0, at - zero - _waiting(at, cold, zero)))
        for one, at in zip(cold, begun, strict=True)
    ]
    return stacks(drawn[:_SHOWN]) if drawn else ""


def _waiting(moment: float, cold: Sequence[Compiled], zero: float) -> float:
    """The seconds from the first compilation to a moment in which nothing was compiled."""
    spans = sorted((one.at / _NS - one.seconds, one.at / _NS) for one in cold)
    waited, until = 0.0, zero
    for start, end in spans:
        if start >= moment:
            break
        waited += max(0.0, start - until)
        until = max(until, end)
    return waited + max(0.0, moment - until)


def _stack(one: Compiled) -> Stack:
    inner = max(0.0, one.inductor_seconds - one.code_seconds)
    parts = (
        ("Dynamo", max(0.0, one.dynamo_seconds - one.aot_seconds)),
        ("AOTAutograd", max(0.0, one.aot_seconds - one.inductor_seconds)),
        ("Inductor", inner),
        ("kernels", one.code_seconds),
    )
    known = tuple(part for part in parts if part[1] > 0) or (("Dynamo", one.seconds),)
    name = f"{one.compile_id} {one.function}{', its backward' if one.backward else ''}"
    return Stack(name, known, f"{rounded(one.seconds, 2)} s")


def _recompiles(answer: Answer, root: Path) -> Iterator[dict[str, Any]]:
    """The functions that were compiled again, each with the guards that failed."""
    first = answer.first
    compiled = first.recorded.compiled if first else ()
    frames: dict[str, list[Compiled]] = {}
    for one in compiled:
        if not one.backward:
            frames.setdefault(one.compile_id.partition("/")[0], []).append(one)
    guards = {e.compile_id: e for e in answer.events if e.kind is Kind.RECOMPILE}
    for versions in frames.values():
        again = [one for one in versions if one.recompile_reason]
        if again:
            at = versions[0]
            ids = words.recompiled(again)
            yield {
                "function": at.function,
                "place": words.at(at.filename, at.row, root),
                "seconds": rounded(
                    sum(one.seconds for one in compiled if one.compile_id in ids), 2
                ),
                "versions": [(one.compile_id, *_guard(one, guards, root)) for one in again],
            }


def _guard(one: Compiled, guards: Mapping[str, Event], root: Path) -> tuple[str, str]:
    event = guards.get(one.compile_id)
    if event is None:
        return "", one.recompile_reason
    return words.place(event, root), event.what


def _timeline(answer: Answer, root: Path) -> dict[str, Any] | None:
    """The lanes of a step, as boxes in percent."""
    found = answer.timeline
    if found is None or not (found.host or found.gpu):
        return None
    lanes = [("host", found.host), ("GPU", found.gpu)]
    return {
        "ms": rounded(found.milliseconds, 4),
        "lanes": [(name, [_box(one, root) for one in spans]) for name, spans in lanes if spans],
        "legend": [(_KINDS[kind], _NAMES.get(kind, kind), share) for kind, share in _shares(found)],
    }


def _shares(found: Timeline) -> Iterator[tuple[str, str]]:
    for lane in (found.host, found.gpu):
        for kind, share in shares(lane).items():
            yield kind, f"{share:.0%}"


def _box(span: Span, root: Path) -> tuple[str, float, float, str]:
    where = ""
    if span.line is not None and span.line[1]:
        where = f" at {words.at(*span.line, root)}"
    told = f"{_NAMES.get(span.kind, span.kind)}{where}"
    return _KINDS[span.kind], span.start * 100, (span.end - span.start) * 100, told


def _rank_rows(answer: Answer) -> Iterator[tuple[str, ...]]:
    """The ranks beside each other, one row each; how busy a GPU was, if there is one."""
    busy = any(rank.activity is not None for rank in answer.ranks)
    for rank in answer.ranks:
        compiled = rank.recorded.compiled
        kinds = Counter(event.kind for event in rank.events)
        alone = sum(event.ranks == (rank.number,) for event in answer.events)
        yield (
            rank.name,
            rounded(rank.step.value, 4),
            *([f"{rank.idle_share:.0%}" if rank.activity else ""] if busy else []),
            str(len({one.compile_id.partition("/")[0] for one in compiled})),
            str(kinds[Kind.BREAK]),
            str(kinds[Kind.RECOMPILE]),
            rounded(sum(one.seconds for one in compiled), 3),
            str(alone) if rank.number is not None else "",
        )


def _ranks(ranks: Sequence[Rank]) -> str:
    if len(ranks) == 1:
        return ""
    return bars(
        [
            Bar(
                rank.name,
                rank.step.value,
                f"{rounded(rank.step.value, 4)} ms",
                lower=rank.step.low,
                upper=rank.step.high,
            )
            for rank in ranks
        ]
    )
