"""One run of ``tclint verify``: open the trees, run every target, join, decide the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from tclint.config import Config
from tclint.verify.compare import Options, Side, verify_sides
from tclint.verify.join import join
from tclint.verify.results import TargetReport
from tclint.verify.targets import parse_target
from tclint.verify.trees import before_tree


@contextmanager
def before_and_after(
    text: str, working: Path, before: str | None, fixed: Mapping[str, str] | None
) -> Iterator[tuple[Side, ...]]:
    """The arms for one target: against ``before``, against its fixed texts, or alone."""
    target = parse_target(text)
    if before is not None:
        with before_tree(before, working) as tree:
            old = Side("before", tree.locate(target, working), tree.root)
            yield old, Side("after", text, working)
    elif fixed is not None:
        yield Side("before", text, working), Side("after", text, working, fixed)
    else:
        yield (Side("after", text, working),)


def verify_target(
    text: str, sides: Sequence[Side], options: Options, config: Config
) -> TargetReport:
    """Run one target and join its breaks to the static findings of each arm."""
    report = verify_sides(text, sides, options)
    joined = [
        entry
        for side, arm in zip(sides, report.arms, strict=True)
        if arm.probe is not None
        for entry in join(arm.name, arm.probe, side.root, config, side.overlay)
    ]
    return replace(report, joined=tuple(joined))


def exit_code(reports: Sequence[TargetReport]) -> int:
    """2 when something did not run, 1 when breaks remain or results differ, else 0."""
    if any(arm.failure is not None for report in reports for arm in report.arms):
        return 2
    return int(any(_found_something(report) for report in reports))


def _found_something(report: TargetReport) -> bool:
    probe, speed = report.after.probe, report.after.speed
    remain = probe is not None and any(not one.by_torch for one in probe.breaks)
    compared = [report.equality]
    if probe is not None:
        compared.append(probe.like_eager)
    if speed is not None:
        compared.append(speed.like_eager)
    return remain or any(equality.equal is False for equality in compared)
