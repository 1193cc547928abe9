"""One run of ``tclint verify``: open the trees, run every target, join, decide the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tclint.config import Config
from tclint.verify.arms import Options, Side
from tclint.verify.compare import verify_sides
from tclint.verify.join import join
from tclint.verify.results import Joined, Probe, TargetReport
from tclint.verify.targets import parse_target
from tclint.verify.trees import before_tree


@dataclass(frozen=True, slots=True)
class Comparison:
    """What to compare the working tree with: an older tree, or what ``fix`` makes of its files."""

    before: str | None = None
    fix: Callable[[Sequence[Path]], Mapping[str, str]] | None = None


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
    elif comparison.fix is not None:
        yield Side("before", text, working), Side("after", text, working, fix=comparison.fix)
    else:
        yield (Side("after", text, working),)


def verify_target(
    name: str, sides: Sequence[Side], options: Options, config: Config
) -> TargetReport:
    """Run one target and join its breaks to the static findings of each arm."""

    def join_side(side: Side, probe: Probe) -> tuple[Joined, ...]:
        return join(side.name, probe, side.root, config, side.overlay)

    return verify_sides(name, sides, options, join_side)


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
