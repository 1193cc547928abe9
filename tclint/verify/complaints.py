"""Why a target does not pass, in one place for the exit code and for every report."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.report.view import count
from tclint.verify.events import Equality
from tclint.verify.results import Distributed, Remedy, TargetReport


def complaints(report: TargetReport) -> tuple[str, ...]:
    """All reasons for exit code 1; none when the target passes."""
    return tuple(_complaints(report))


def _complaints(report: TargetReport) -> Iterator[str]:
    probe = report.after.probe
    number = len(probe.user_breaks) if probe is not None else 0
    if number > report.allowed_breaks:
        breaks = count(number, "graph break")
        yield f"{breaks}, allowed: {report.allowed_breaks}{remedies(report)}"
    if probe is not None and probe.nothing_compiled:
        yield f"nothing was compiled: {probe.nothing_compiled}"
    if report.unfinished:
        yield f"the time limit was reached before: {', '.join(report.unfinished)}"
    yield from report.over_budget
    yield from _slower(report)
    for what, equality in comparisons(report):
        if equality.equal is False:
            yield f"{what}: {equality.detail}"
    for one in report.after.untimed:
        if one.fault:
            failed = "compiled code" if "time limit" in one.reason else "compiled code fails"
            yield f"{failed}{f' ({one.mode})' if one.mode else ''}: {one.reason}"
    if report.distributed is not None:
        yield from _distributed(report.distributed)


def comparisons(report: TargetReport) -> Iterator[tuple[str, Equality]]:
    """All that was compared, with what to say where it differs."""
    probe = report.after.probe
    yield "results differ", report.equality
    if probe is not None and probe.like_eager != report.equality:
        yield "compiled results differ from eager ones", probe.like_eager
    for one in report.after.numbers:
        yield f"compiled results differ from eager ones ({one.mode})", one.like_eager


def remedies(report: TargetReport) -> str:
    """What was tried and leaves fewer breaks, in a clause; empty where nothing does."""
    probe = report.after.probe
    found = probe.remedies if probe is not None else ()
    return "".join(f"; {_remedy(one)}" for one in found)


def _remedy(one: Remedy) -> str:
    if not one.breaks:
        return f"{one.setting} captures it: 0 breaks"
    return f"with {one.setting}: {one.breaks} break{'' if one.breaks == 1 else 's'}"


def _slower(report: TargetReport) -> Iterator[str]:
    """Eager code pays for a change that helps compiled code: that is for its author to know."""
    ratios = [one.ratio for one in report.eager]
    if ratios and all(ratio is not None and ratio > 1 for ratio in ratios):
        one = report.eager[0]
        bounds = f", 95%: {one.low:.2f} to {one.high:.2f}" if one.low and one.high else ""
        yield f"eager code is slower: {one.ratio:.2f} times what it was ({one.note}{bounds})"


def _distributed(found: Distributed) -> Iterator[str]:
    for rank in found.ranks:
        if rank.failure is not None:
            yield f"rank {rank.rank}: {rank.failure.kind}: {rank.failure.message}"
            continue
        if rank.nothing_compiled:
            yield f"rank {rank.rank}: nothing was compiled: {rank.nothing_compiled}"
        if rank.like_eager is not None and rank.like_eager.equal is False:
            yield f"rank {rank.rank}: differs from eager: {rank.like_eager.detail}"
    if found.diverged:
        ranks = ", ".join(map(str, found.diverged))
        yield f"ranks {ranks} ended with weights or gradients that differ from rank 0"
