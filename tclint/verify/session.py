"""One run of ``tclint verify``: open the trees, run every target, join, decide the exit code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tclint.config import Config
from tclint.verify.compare import Options, Side, verify_sides
from tclint.verify.join import join
from tclint.verify.results import TargetReport
from tclint.verify.targets import parse_target
from tclint.verify.trees import before_tree


@dataclass(frozen=True, slots=True)
class Comparison:
    """What to compare the working tree with: an older tree, or its own fixed texts by path."""

    before: str | None = None
    fixed: Mapping[str, str] | None = None


@contextmanager
def before_and_after(
    text: str, working: Path, comparison: Comparison
) -> Iterator[tuple[Side, ...]]:
    """The arms for one target; trees are open for as long as the block runs."""
    target = parse_target(text)
    if comparison.before is not None:
        with before_tree(comparison.before, working) as tree:
            old = Side("before", tree.locate(target, working), tree.root)
            yield old, Side("after", text, working)
    elif comparison.fixed is not None:
        yield Side("before", text, working), Side("after", text, working, comparison.fixed)
    else:
        yield (Side("after", text, working),)


def verify_target(
    name: str, sides: Sequence[Side], options: Options, config: Config
) -> TargetReport:
    """Run one target and join its breaks to the static findings of each arm."""
    report = verify_sides(name, sides, options)
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
