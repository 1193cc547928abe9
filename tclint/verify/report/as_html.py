"""One page that needs nothing else: verdicts, plots, and every break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from tclint.report.html_page import PAGE
from tclint.report.painted import CODE_STYLE, painted_patch
from tclint.report.project import NAME
from tclint.report.style import STYLE
from tclint.verify.budgets import recompile_count
from tclint.verify.complaints import complaints
from tclint.verify.report.details import details
from tclint.verify.report.numbers import UNKNOWN, milliseconds, place, ratio, sync_count
from tclint.verify.report.plots import plots
from tclint.verify.report.text import equal, verdict
from tclint.verify.results import Arm, TargetReport

_MARKS = {"passed": "passed", "failed": "failed", "did not run": "broken"}


def render(reports: Sequence[TargetReport], base: Path, origin: str = "") -> str:
    """The page; ``origin`` says when and of what it was made."""
    passed = sum(verdict(report) == "passed" for report in reports)
    probes = [arm.probe for report in reports for arm in report.arms if arm.probe is not None]
    where = sorted({f"torch {probe.torch} on {probe.device}" for probe in probes})
    summary = f"{passed} of {len(reports)} targets passed. {'; '.join(where)}"
    return PAGE.substitute(
        title=f"{NAME} verify",
        style=STYLE + CODE_STYLE,
        summary="<br>".join(escape(line) for line in (summary, origin) if line),
        body="\n".join(_target(report, base) for report in reports),
    )


def _target(report: TargetReport, base: Path) -> str:
    said = verdict(report)
    mark = f'<span class="mark {_MARKS[said]}">{said}</span>'
    parts = [
        '<section class="target">',
        f'<div class="head"><h2>{escape(report.target)}</h2>{mark}</div>',
        *_reasons(report),
        _figures(report),
        *plots(report, base),
        *(_breaks(report, arm, base) for arm in report.arms),
        _diff(report),
        _everything(report, base),
        "</section>",
    ]
    return "\n".join(part for part in parts if part)


def _reasons(report: TargetReport) -> Iterator[str]:
    texts = [f"{a.name}: {a.failure.message}" for a in report.arms if a.failure is not None]
    texts += complaints(report)
    if texts:
        yield "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>"
    if any(speedup.ratio is None for speedup in report.speedups):
        notes = {speedup.note for speedup in report.speedups if speedup.ratio is None}
        yield f'<p class="soft">{escape("; ".join(sorted(notes)))}</p>'


def _figures(report: TargetReport) -> str:
    speed = report.after.speed
    shown = [
        ("graph breaks", _both(report, _break_count)),
        ("graphs", _both(report, lambda arm: str(arm.probe.graphs) if arm.probe else UNKNOWN)),
        ("recompiles", _both(report, lambda arm: str(recompile_count(arm)))),
        ("results", equal(report)),
    ]
    if report.speedup is not None:
        shown.append((ratio(report.speedups[0]).partition(" ")[2].strip("()"), _times(report)))
    if speed is not None:
        shown.append(("ms, compiled", milliseconds(speed.compiled)))
        shown.append(("cold start", _both(report, _cold_start)))
    if speed is not None and speed.syncs is not None:
        shown.append(("host syncs, compiled", sync_count(speed.syncs)))
    if speed is not None and speed.kernels is not None and speed.eager_kernels is not None:
        counts = f"{speed.eager_kernels.run} → {speed.kernels.run}"
        shown.append(("kernels, eager to compiled", counts))
        shown.append(("launches, compiled", str(speed.kernels.launches)))
    for one in report.distributed.scaling if report.distributed is not None else ():
        shown.append((f"scaling efficiency, {one.form}", f"{one.efficiency:.0%}"))
    cells = "".join(
        f'<div class="figure"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for name, value in shown
    )
    return f'<div class="figures">{cells}</div>'


def _times(report: TargetReport) -> str:
    return f"{report.speedup:.2f}x"


def _break_count(arm: Arm) -> str:
    return str(len(arm.probe.user_breaks)) if arm.probe else UNKNOWN


def _cold_start(arm: Arm) -> str:
    return f"{arm.speed.cold_start:.1f} s" if arm.speed else UNKNOWN


def _breaks(report: TargetReport, arm: Arm, base: Path) -> str:
    """The graph breaks of an arm: those that are gone are worth reading, too."""
    if arm.probe is None or not arm.probe.breaks:
        return ""
    known = {(j.filename, j.row): j for j in report.joined if j.arm == arm.name}
    rows = []
    for one in arm.probe.breaks:
        joined = known.get((one.filename, one.row))
        rule = joined.code if joined and joined.code else "torch" if one.by_torch else "missed"
        cells = (place(one.filename, one.row, base), one.gb_id or UNKNOWN, rule)
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        rows.append(f'<tr>{row}<td class="told">{escape(one.reason)}</td></tr>')
    head = "".join(f"<th>{name}</th>" for name in ("line", "id", "rule", "reason"))
    table = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
    title = "Graph breaks that remain" if arm is report.after else f"Graph breaks, {arm.name}"
    return f'<h3>{escape(title)}</h3><div class="wide" tabindex="0">{table}</div>'


def _diff(report: TargetReport) -> str:
    return f"<h3>What changed</h3>{painted_patch(report.diff)}" if report.diff else ""


def _everything(report: TargetReport, base: Path) -> str:
    text = escape("\n".join(details(report, base)))
    summary = "<summary>everything that was seen</summary>"
    return f'<h3>Details</h3><details open>{summary}<pre tabindex="0">{text}</pre></details>'


def _both(report: TargetReport, cell: object) -> str:
    assert callable(cell)
    return " → ".join(cell(arm) for arm in report.arms)
