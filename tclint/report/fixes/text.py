"""What fixing did, in words."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from tclint.diagnostics import Change
from tclint.printable import printable
from tclint.report.view import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tclint.report.fixes.outcome import Outcome, Pace, ReportedFix, VerifiedTarget, Worth
    from tclint.report.view import View


def render(outcome: Outcome, view: View) -> str:
    """What was fixed by file and rule; with ``--verify`` every fix with the reason."""
    return printable(_render(outcome, view))


def _render(outcome: Outcome, view: View) -> str:
    if outcome.verification is None:
        return _by_rule(outcome, view)
    lines = [
        *_section("Kept", outcome.kept, view),
        *_section("Dropped", outcome.dropped, view),
        *map(_target, outcome.verification.targets),
        *map(_worth, outcome.verification.worth),
        f"Compiled {count(outcome.verification.runs, 'time')} to find out.",
    ]
    return "\n".join(lines) + "\n\n"


def _by_rule(outcome: Outcome, view: View) -> str:
    fixes = outcome.kept
    if not fixes:
        return ""
    names = {one.fix.diagnostic.code: one.fix.diagnostic.name for one in fixes}
    by_file: dict[Path, Counter[str]] = defaultdict(Counter)
    remedies: dict[Path, list[str]] = defaultdict(list)
    for one in fixes:
        path = one.fix.diagnostic.path
        if one.fix.settles:
            remedies[path].append(f"{one.fix.message} for {count(len(one.fix.settles), 'finding')}")
        else:
            by_file[path][one.fix.diagnostic.code] += 1
    lines = [f"Fixed {outcome.told}:"]
    for path in dict.fromkeys(one.fix.diagnostic.path for one in fixes):
        codes = by_file[path]
        lines.append(f"- {view.path(path)}:")
        lines += [f"    {remedy}" for remedy in remedies[path]]
        for code, times in sorted(codes.items()):
            lines.append(f"    {times} \N{MULTIPLICATION SIGN} {code} ({names[code]})")
    return "\n".join(lines) + "\n\n"


def _section(head: str, fixes: Sequence[ReportedFix], view: View) -> Iterator[str]:
    if not fixes:
        return
    yield f"{head} {len(fixes)} {'fix' if len(fixes) == 1 else 'fixes'}:"
    for one in sorted(fixes, key=lambda one: one.fix.key):
        diagnostic = one.fix.diagnostic
        start = diagnostic.span.start
        place = f"{view.path(diagnostic.path)}:{start.row}:{start.column}"
        change = one.fix.change
        unsafe = "" if change is Change.SAME_BITS else f" [unsafe: {change.value}]"
        yield f"- {place}: {diagnostic.code}{unsafe} {one.fix.message}"
        if one.reason is not None:
            yield f"    {one.reason.text}"
    yield ""


def _target(target: VerifiedTarget) -> str:
    breaks = f"{target.breaks_before} \N{RIGHTWARDS ARROW} {target.breaks_after} graph breaks"
    return f"{target.name}: {breaks}, results {target.results}."


def _worth(worth: Worth) -> str:
    arrow = "\N{RIGHTWARDS ARROW}"
    breaks = f"{worth.breaks_before} {arrow} {worth.breaks_after} graph breaks"
    graphs = f"{worth.graphs_before} {arrow} {worth.graphs_after} graphs"
    dropped = "" if worth.kept else ", dropped: compiled code is slower or fails"
    told = f"- {worth.kind}: {breaks}, {graphs}{dropped}"
    return "\n".join([told, *map(_pace, worth.pace), *(f"    {line}" for line in worth.lines)])


def _pace(pace: Pace) -> str:
    """``net.py:make on cpu: 1.9 → 0.8 ms, 2.4 times as fast (2.3 to 2.5)``."""
    where = f"    {pace.target} on {pace.device}"
    if pace.before is None or pace.after is None:
        return f"{where}: {pace.note.splitlines()[0].removesuffix(':')}"
    was, now = pace.before, pace.after
    times = f"{where}: {was.milliseconds:.3g} \N{RIGHTWARDS ARROW} {now.milliseconds:.3g} ms"
    if was.launches is not None and now.launches is not None:
        times += f", {was.launches} \N{RIGHTWARDS ARROW} {now.launches} launches"
    if was.syncs is not None and now.syncs is not None:
        times += f", {was.syncs} \N{RIGHTWARDS ARROW} {now.syncs} syncs"
    if pace.ratio is None:
        return f"{times}, {pace.note}"
    bounds = f" ({pace.low:.2f} to {pace.high:.2f})" if pace.low and pace.high else ""
    return f"{times}, {pace.ratio:.2f} times as fast{bounds}"
