"""One run of ``tclint verify``: open the trees, run every target, join, decide the exit code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tclint.config import Config
from tclint.config_verify import Budget, VerifyTarget
from tclint.records import record
from tclint.verify.answers import Exported
from tclint.verify.arms import Fixing, Options, Side, Tell, new_cache, request_for, silent
from tclint.verify.budgets import over_budget
from tclint.verify.compare import verify_sides
from tclint.verify.complaints import complaints
from tclint.verify.distribute import distribute
from tclint.verify.errors import TargetError
from tclint.verify.join import join
from tclint.verify.process import ChildError
from tclint.verify.results import Joined, Probe, TargetReport
from tclint.verify.targets import parse_target
from tclint.verify.trees import before_tree


@record(frozen=True)
class Comparison:
    """What to compare the working tree with: an older tree, or what ``fix`` makes of its files.

    With more than one of ``processes`` the target also runs distributed, ``parallel`` as said.
    """

    before: str | None = None
    fix: Callable[[Sequence[Path]], Fixing] | None = None
    processes: int = 1
    parallel: str = "ddp"


@record(frozen=True)
class Job:
    """One target to verify: what reports call it, how it is written, how to run it."""

    name: str
    text: str
    options: Options
    budget: Budget = Budget()


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


def jobs_for(targets: Sequence[str], config: Config, options: Options) -> tuple[Job, ...]:
    """The targets named, or else all that are configured, each with its own settings."""
    by_text = {entry.target: entry for entry in config.verify_targets}
    by_text |= {entry.name: entry for entry in config.verify_targets}
    if targets:
        entries = [by_text.get(text) or VerifyTarget(text, text) for text in targets]
    else:
        entries = list(config.verify_targets)
    if not entries:
        raise TargetError("no target: name one, or configure some as [[tool.tclint.verify]]")
    return tuple(
        Job(entry.name, entry.target, _with_settings(options, entry), entry.budget)
        for entry in entries
    )


def verify_job(
    job: Job, working: Path, comparison: Comparison, config: Config, tell: Tell = silent
) -> TargetReport:
    """Run one target, join its breaks to the static findings, and hold it to its budget.

    The time limit holds for all of it: what it leaves no time for is named as left out.
    """
    options = replace(job.options, deadline=time.monotonic() + job.options.time_limit)
    ran: list[Side] = []

    def join_side(side: Side, probe: Probe) -> tuple[Joined, ...]:
        ran.append(side)
        return join(side.name, probe, side.root, config, side.overlay)

    with before_and_after(job.text, working, comparison) as sides:
        report = verify_sides(job.name, sides, options, join_side, tell)
        if comparison.processes > 1 and report.after.failure is None and report.applied != ():
            doing = f"{comparison.processes} ranks"
            if options.out_of_time:
                report = replace(report, unfinished=(*report.unfinished, doing))
            else:
                tell(doing)
                report = replace(report, distributed=distribute(ran[-1], options, comparison))
        if options.export and report.after.failure is None:
            tell("export")
            report = replace(report, exported=_exported(ran[-1], options))
    allowed = job.budget.max_graph_breaks or 0
    return replace(report, over_budget=over_budget(report, job.budget), allowed_breaks=allowed)


def _exported(side: Side, options: Options) -> str:
    with TemporaryDirectory(prefix="tclint-verify-") as folder:
        desk = Path(folder)
        try:
            with options.start(new_cache(desk, side, "export")) as child:
                request = request_for(side, options, desk)
                return child.ask("export", Exported, **request).problem
        except ChildError as error:
            return error.failure.message


def exit_code(reports: Sequence[TargetReport]) -> int:
    """2 when something did not run, 1 when it costs or differs more than it may, else 0."""
    if any(arm.failure is not None for report in reports for arm in report.arms):
        return 2
    return int(any(complaints(report) for report in reports))


def _with_settings(options: Options, entry: VerifyTarget) -> Options:
    given: dict[str, Any] = {
        "backend": entry.backend,
        "modes": (entry.mode,) if entry.mode else None,
        "phase": entry.phase,
        "device": entry.device,
        "inputs": None if options.inputs else entry.inputs or None,
    }
    return replace(options, **{key: value for key, value in given.items() if value is not None})
