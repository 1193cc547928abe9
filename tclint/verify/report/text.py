"""Show people what a verification found: a table, and every remaining break."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tclint.verify.results import Arm, Break, Equality, Sync, TargetReport, Timing

Cell = Callable[[Arm], str]

_HEADINGS = (
    "target",
    "breaks",
    "graphs",
    "recompiles",
    "syncs eager",
    "syncs compiled",
    "equal",
    "eager ms",
    "compiled ms before",
    "compiled ms after",
    "cold start",
)
_UNKNOWN = "-"


def as_text(reports: Sequence[TargetReport], base: Path) -> str:
    """The report for people; file names are shown relative to ``base`` where possible."""
    rows = [_HEADINGS, *(_row(report) for report in reports)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for report in reports:
        lines += ["", *_details(report, base)]
    return "\n".join(lines)


def _row(report: TargetReport) -> tuple[str, ...]:
    first, last = report.arms[0], report.arms[-1]
    before = report.arms[0] if len(report.arms) > 1 else None
    return (
        report.target,
        _both(report, lambda arm: str(len(arm.probe.breaks)) if arm.probe else _UNKNOWN),
        _both(report, lambda arm: str(arm.probe.graphs) if arm.probe else _UNKNOWN),
        _both(report, _recompiles),
        _both(report, lambda arm: _sync_count(arm.probe.syncs if arm.probe else None)),
        _both(report, lambda arm: _sync_count(arm.speed.syncs if arm.speed else None)),
        report.equality.verdict if report.equality.equal is not None else "unknown",
        _milliseconds(first.speed.eager if first.speed else None),
        _milliseconds(before.speed.compiled if before and before.speed else None),
        _milliseconds(last.speed.compiled if last.speed else None),
        _both(report, lambda arm: f"{arm.speed.cold_start:.1f} s" if arm.speed else _UNKNOWN),
    )


def _details(report: TargetReport, base: Path) -> list[str]:
    lines = [f"{report.target}: {_summary(report)}"]
    for arm in report.arms:
        if arm.failure is not None:
            lines.append(f"  {arm.name}: {arm.failure.kind}: {arm.failure.message}")
    lines += [f"  {line}" for line in _equality_lines(report)]
    after = report.after
    probe = after.probe
    if probe is None:
        return lines
    lines += [line for one in probe.breaks for line in _break_lines(one, base)]
    recompiles = after.speed.recompiles if after.speed else ()
    for again in recompiles or probe.recompiles:
        limit = " (limit reached: runs eagerly)" if again.limit_reached else ""
        place = _place(again.filename, again.row, base)
        lines.append(f"  {place}: recompiles: {again.reason}{limit}")
    lines += _sync_lines("eager", probe.syncs, base)
    lines += _sync_lines("compiled", after.speed.syncs if after.speed else None, base)
    lines += [_joined_line(report)] if report.joined else []
    return lines


def _summary(report: TargetReport) -> str:
    if report.speedup is None:
        return report.speed_note
    return f"{report.speedup:.2f}x ({report.speed_note})"


def _equality_lines(report: TargetReport) -> list[str]:
    lines = []
    probe = report.after.probe
    if report.equality.detail:
        lines.append(f"outputs: {report.equality.verdict}: {report.equality.detail}")
    if probe is not None and probe.like_before is not None and probe.like_eager.equal is False:
        lines.append(f"compiled against eager: {probe.like_eager.detail}")
    speed = report.after.speed
    if speed is not None:
        lines.append(f"compiled numbers against eager: {_numbers(speed.like_eager)}")
    return lines


def _numbers(equality: Equality) -> str:
    if equality.verdict in {"identical", "unknown"}:
        return equality.verdict + (f" ({equality.detail})" if equality.detail else "")
    return (
        f"{equality.verdict}, at most {equality.max_abs:.2g} off "
        f"({equality.max_rel:.2g} of the largest value; tolerance {equality.tolerance:g})"
    )


def _break_lines(one: Break, base: Path) -> list[str]:
    ids = "+".join(one.gb_ids) or "no GB id"
    notes = [
        note
        for holds, note in (
            (one.drops_frame, "the whole function runs eagerly"),
            (one.by_torch, "asked for by torch itself"),
        )
        if holds
    ]
    tail = f" ({'; '.join(notes)})" if notes else ""
    lines = [f"  {_place(one.filename, one.row, base)}: {ids} {one.reason}{tail}"]
    inner = one.stack[-1] if one.stack else None
    if inner and (inner.filename, inner.row) != (one.filename, one.row):
        lines.append(f"    in {_place(inner.filename, inner.row, base)} ({inner.function})")
    return lines


def _sync_lines(how: str, syncs: tuple[Sync, ...] | None, base: Path) -> list[str]:
    return [
        f"  {_place(sync.filename, sync.row, base)}: {sync.count} host syncs in each {how} call"
        for sync in syncs or ()
    ]


def _joined_line(report: TargetReport) -> str:
    counts = {
        status: sum(entry.status == status for entry in report.joined)
        for status in ("confirmed", "missed", "not-seen")
    }
    return (
        f"  static findings: {counts['confirmed']} confirmed, {counts['missed']} missed, "
        f"{counts['not-seen']} not seen at run time"
    )


def _both(report: TargetReport, cell: Cell) -> str:
    return " → ".join(cell(arm) for arm in report.arms)


def _recompiles(arm: Arm) -> str:
    if arm.speed is not None:
        return str(max(len(arm.speed.recompiles), len(arm.probe.recompiles) if arm.probe else 0))
    return str(len(arm.probe.recompiles)) if arm.probe else _UNKNOWN


def _sync_count(syncs: tuple[Sync, ...] | None) -> str:
    return _UNKNOWN if syncs is None else str(sum(sync.count for sync in syncs))


def _milliseconds(timing: Timing | None) -> str:
    return _UNKNOWN if timing is None else f"{timing.median:.3f} ±{timing.spread / 2:.3f}"


def _place(filename: str, row: int, base: Path) -> str:
    path = Path(filename)
    return f"{path.relative_to(base) if path.is_relative_to(base) else path}:{row}"
