"""One page that needs nothing else: the step, lines by price with their source, the cold start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tclint.report.project import NAME
from tclint.report.style import STYLE
from tclint.run.ablate import Ablation
from tclint.run.events import Kind
from tclint.run.lines import Line
from tclint.run.price import quiet_steps
from tclint.run.proof import Proof
from tclint.run.recorded import Compiled, Steps
from tclint.run.report import words
from tclint.run.session import Answer, Rank, Ranked
from tclint.verify.report.charts import Bar, Stack, bars, stacks

_TEMPLATE = "page.html"
_AROUND = 2
_SHOWN = 30
_WIDTH, _HEIGHT = 720, 120
_MS = 1e6


def render(
    answer: Answer, root: Path, proof: Proof | None = None, ablation: Ablation | None = None
) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return pages.get_template(_TEMPLATE).render(_content(answer, root, proof, ablation))


def _content(
    answer: Answer, root: Path, proof: Proof | None, ablation: Ablation | None
) -> dict[str, Any]:
    lines = [
        _line(n, one, answer, root) | {"measured": _measured(one, root, ablation)}
        for n, one in enumerate(words.ranked(answer)[:_SHOWN], start=1)
    ]
    return {
        "title": f"{NAME} run",
        "style": STYLE,
        "command": words.command(answer),
        "ended": answer.ended,
        "heads": [words.head(rank, answer) for rank in answer.ranks],
        "figures": [*_figures(answer)],
        "steps": [_steps(rank) for rank in answer.ranks if rank.recorded.steps is not None],
        "priced": answer.priced,
        "lines": lines,
        "prices": _prices(answer.dear, root),
        "cheap": [words.place(one.line, root) for one in answer.cheap] if answer.priced else [],
        "unknown": [_unknown(one, root) for one in answer.unknown],
        "cold": _cold(answer),
        "recompiles": [*_recompiles(answer, root)],
        "ranks": _ranks(answer.ranks),
        "proof": proof,
        "fixes": [
            (words.fixed_place(fix, root), fix.diagnostic.code, fix.message)
            for fix in (proof.fixed.fixes if proof else ())
        ],
        "notes": answer.notes,
    }


def _figures(answer: Answer) -> Iterator[tuple[str, str]]:
    first = answer.first
    if first is None:
        return
    if answer.priced:
        yield f"{first.step.value:.4g}", "ms a step"
    yield str(sum(event.kind is Kind.BREAK for event in first.events)), "graph breaks"
    yield str(sum(event.kind is Kind.RECOMPILE for event in first.events)), "recompiles"
    if first.activity is not None:
        yield f"{first.idle_share:.0%}", "of the time the GPU is idle"
        yield f"{first.activity.launches / first.activity.steps:.0f}", "launches a step"
    seconds = sum(one.seconds for one in first.recorded.compiled)
    yield f"{seconds:.3g} s", "compiling"
    if first.recorded.memory is not None:
        yield f"{first.recorded.memory.peak / 2**30:.3g} GiB", "most memory of the GPU"


def _line(number: int, one: Ranked, answer: Answer, root: Path) -> dict[str, Any]:
    return {
        "number": number,
        "ms": words.milliseconds(one),
        "interval": words.interval(one.price.total),
        "share": words.share(one, answer),
        "place": words.place(one.line, root),
        "says": words.says(one.line),
        "remedy": words.remedy(one.line),
        "url": one.line.finding.url if one.line.finding else None,
        "source": [*_source(one.line)],
    }


def _measured(one: Ranked, root: Path, ablation: Ablation | None) -> str:
    return "" if ablation is None else words.measured(ablation.of(one.line), root)


def _source(line: Line) -> Iterator[tuple[int, str, bool]]:
    """The lines around one, each with its number, and whether it is the one."""
    try:
        rows = Path(line.filename).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    first = max(1, line.row - _AROUND)
    for row in range(first, min(len(rows), line.row + _AROUND) + 1):
        yield row, rows[row - 1], row == line.row


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


def _unknown(one: Ranked, root: Path) -> tuple[str, str]:
    event = next(event for event in one.line.events if not event.by_torch)
    return words.place(one.line, root), event.what


def _steps(rank: Rank) -> dict[str, Any]:
    """The time of each step, as points of a line from left to right."""
    steps = rank.recorded.steps
    assert steps is not None
    times = [(b - a) / _MS for a, b in pairwise(steps.ends)]
    usual = sorted(quiet_steps(steps))
    # The first steps compile: what they take would press all others flat.
    top = 1.5 * usual[min(len(usual) - 1, int(len(usual) * 0.95))] if usual else 1.0
    wide = _WIDTH / max(1, len(times))
    points = [
        f"{(n + 0.5) * wide:.1f},{_HEIGHT - _HEIGHT * min(1.0, ms / top):.1f}"
        for n, ms in enumerate(times)
    ]
    return {
        "name": "" if rank.number is None else f"rank {rank.number}",
        "points": " ".join(points),
        "windows": [*_windows(steps, wide)],
        "width": _WIDTH,
        "height": _HEIGHT,
        "top": f"{top:.3g}",
        "count": len(times),
    }


def _windows(steps: Steps, wide: float) -> Iterator[tuple[float, float, str]]:
    yield 0.0, steps.warm_up * wide, "warm-up"
    for first, last in steps.watched:
        yield first * wide, (last - first + 1) * wide, "the recorder looks closer"


def _cold(answer: Answer) -> str:
    first = answer.first
    cold = [one for one in first.recorded.compiled if not one.recompile_reason] if first else []
    return stacks([_stack(one) for one in cold if one.seconds > 0][:_SHOWN])


def _stack(one: Compiled) -> Stack:
    inner = max(0.0, one.inductor_seconds - one.code_seconds)
    parts = (
        ("Dynamo", max(0.0, one.dynamo_seconds - one.aot_seconds)),
        ("AOTAutograd", max(0.0, one.aot_seconds - one.inductor_seconds)),
        ("Inductor", inner),
        ("kernels", one.code_seconds),
    )
    known = tuple(part for part in parts if part[1] > 0) or (("Dynamo", one.seconds),)
    return Stack(f"{one.compile_id} {one.function}", known, f"{one.seconds:.2g} s")


def _recompiles(answer: Answer, root: Path) -> Iterator[tuple[str, str, str]]:
    for event in answer.events:
        if event.kind is Kind.RECOMPILE:
            yield event.compile_id, words.place(event, root), event.what


def _ranks(ranks: Sequence[Rank]) -> str:
    if len(ranks) == 1:
        return ""
    return bars(
        [
            Bar(
                f"rank {rank.number}",
                rank.step.value,
                f"{rank.step.value:.4g} ms",
                lower=rank.step.low,
                upper=rank.step.high,
            )
            for rank in ranks
        ]
    )
