"""Why a target does not pass, in one place for the exit code and for every report."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.verify.events import Equality
from tclint.verify.results import Distributed, TargetReport


def complaints(report: TargetReport) -> tuple[str, ...]:
    """All reasons for exit code 1; none when the target passes."""
    return tuple(_complaints(report))


def _complaints(report: TargetReport) -> Iterator[str]:
    probe = report.after.probe
    count = len(probe.user_breaks) if probe is not None else 0
    if count > report.allowed_breaks:
        yield f"{count} graph breaks, allowed: {report.allowed_breaks}"
    yield from report.over_budget
    for what, equality in _comparisons(report):
        if equality.equal is False:
            yield f"{what}: {equality.detail}"
    for one in report.after.untimed:
        if one.fault:
            yield f"compiled code fails{f' ({one.mode})' if one.mode else ''}: {one.reason}"
    if report.distributed is not None:
        yield from _distributed(report.distributed)


def _comparisons(report: TargetReport) -> Iterator[tuple[str, Equality]]:
    probe = report.after.probe
    yield "results differ", report.equality
    if probe is not None and probe.like_eager != report.equality:
        yield "compiled results differ from eager ones", probe.like_eager
    for speed in report.after.speeds:
        yield f"compiled results differ from eager ones ({speed.mode})", speed.like_eager


def _distributed(found: Distributed) -> Iterator[str]:
    for rank in found.ranks:
        if rank.failure is not None:
            yield f"rank {rank.rank}: {rank.failure.kind}: {rank.failure.message}"
        elif rank.like_eager is not None and rank.like_eager.equal is False:
            yield f"rank {rank.rank}: differs from eager: {rank.like_eager.detail}"
    if found.diverged:
        ranks = ", ".join(map(str, found.diverged))
        yield f"ranks {ranks} ended with other weights or gradients than rank 0"
