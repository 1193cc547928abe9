"""What ``tclint fix --verify`` does between its options and its exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tclint.cli.configuration import Overrides
from tclint.cli.exits import ERROR
from tclint.cli.fixing import (
    FixOptions,
    deliver,
    fixer,
    remedies_of,
    settle,
    sweep_beside,
    without_notebooks,
    written,
)
from tclint.cli.inputs import STDIN, Inputs, gather, to_change
from tclint.cli.progress import progress_bar
from tclint.cli.terminal import fail
from tclint.cli.verifying import orderly_end, require_torch
from tclint.confirm.confirm import Plan, confirm
from tclint.confirm.trials import Fixer
from tclint.files import exists
from tclint.report.fixes.outcome import Ground, Outcome, Status
from tclint.verify.arms import Options
from tclint.verify.errors import TargetError
from tclint.verify.session import jobs_for


def run_confirmed(
    arguments: Sequence[Path],
    overrides: Overrides,
    how: FixOptions,
    options: Options,
    most_runs: int,
) -> int:
    """Apply the fixes that the targets confirm, all or none; return the exit code.

    What exists among the ``arguments`` is a path to fix, anything else a target. Without paths,
    fixes are made in the files that the targets load.
    """
    if STDIN in arguments:
        fail("`-` (standard input) cannot be verified: --verify needs files that can be imported")
    require_torch()
    paths = [path for path in arguments if exists(path)]
    targets = [str(path) for path in arguments if not exists(path)]
    inputs = without_notebooks(to_change(gather(paths, overrides, None), paths), paths)
    try:
        jobs = jobs_for(targets, inputs.config, options)
        plan = Plan(_fixer(inputs, how), jobs, Path.cwd(), most_runs, not paths, remedies_of(how))
        with orderly_end(), progress_bar(most_runs) as show:
            outcome = confirm(plan, Status.OFFERED if how.diff else Status.APPLIED, show)
    except TargetError as error:
        fail(str(error))
    if not how.diff:
        sweep_beside(inputs)
        outcome = written(outcome, [outcome.changed])
    code = deliver(outcome, inputs, how)
    return ERROR if _failed_to_write(outcome) else code


def _fixer(inputs: Inputs, how: FixOptions) -> Fixer:
    make = fixer(inputs, how)
    return lambda allow, remedies: settle(make(allow, remedies), inputs)


def _failed_to_write(outcome: Outcome) -> bool:
    reasons = (one.reason for one in outcome.fixes)
    return any(reason is not None and reason.ground is Ground.NOT_WRITTEN for reason in reasons)
