"""Budgets: what a target may cost before the run counts as failed."""

from __future__ import annotations

from collections.abc import Iterator

from tclint.config_verify import Budget
from tclint.verify.results import Arm, TargetReport


def over_budget(report: TargetReport, budget: Budget) -> tuple[str, ...]:
    """The limits that the target exceeds, besides that of graph breaks."""
    return tuple(_exceeded(report, budget))


def recompile_count(arm: Arm) -> int:
    """Recompiles of the run that showed more of them."""
    seen = len(arm.probe.recompiles) if arm.probe else 0
    return max([seen, *(len(one.recompiles) for one in arm.numbers)])


def _exceeded(report: TargetReport, budget: Budget) -> Iterator[str]:
    arm = report.after
    if arm.probe is not None and budget.max_recompiles is not None:
        yield from _above(recompile_count(arm), budget.max_recompiles, "recompiles")
    if budget.max_syncs is not None and arm.speed is not None and arm.speed.syncs is not None:
        waits = sum(sync.count for sync in arm.speed.syncs)
        yield from _above(waits, budget.max_syncs, "host syncs in a compiled call")
    if budget.max_cold_start is not None:
        for speed in arm.speeds:
            if speed.cold_start > budget.max_cold_start:
                yield (
                    f"cold start of {speed.cold_start:.1f} s ({speed.mode}), "
                    f"allowed: {budget.max_cold_start:g} s"
                )
    if budget.min_speedup is not None and not _fast_enough(report, budget.min_speedup):
        shown = f"{report.speedup:.2f}x" if report.speedup is not None else report.speed_note
        yield f"speedup: {shown}, required: {budget.min_speedup:g}x"


def _above(count: int, limit: int, what: str) -> Iterator[str]:
    if count > limit:
        yield f"{count} {what}, allowed: {limit}"


def _fast_enough(report: TargetReport, least: float) -> bool:
    # No measurable difference is a ratio of one: enough where no more than that is required.
    for verdict in report.speedups[:1]:
        if verdict.ratio is not None:
            return verdict.ratio >= least
        return verdict.low is not None and least <= 1.0
    return False
