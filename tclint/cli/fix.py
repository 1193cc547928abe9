"""``tclint fix``."""

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from tclint.cli import options
from tclint.cli.options import Remedies

_PROOF = "Proof of fixes"


class Format(str, Enum):
    """How to print the report."""

    TEXT = "text"
    JSON = "json"


class Phase(str, Enum):
    """What one call of a target does."""

    FORWARD = "forward"
    BACKWARD = "backward"
    STEP = "step"


def fix(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Files and folders to fix, by default the current folder; `-` is standard input. "
            "With `--verify`, also targets: `pkg.mod:factory`, `path/file.py:factory`, or the name "
            "of a configured target.",
            show_default=False,
        ),
    ] = None,
    *,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Compile targets with and without the fixes. Keep a fix only if its break is gone "
            "and results, exceptions and state are equal. Runs your code.",
            rich_help_panel=_PROOF,
        ),
    ] = False,
    phase: Annotated[
        Phase,
        typer.Option(
            help="With `--verify`: what one call of a target does.", rich_help_panel=_PROOF
        ),
    ] = Phase.FORWARD,
    time_limit: Annotated[
        float,
        typer.Option(
            metavar="SECONDS",
            min=1.0,
            help="With `--verify`: seconds for each child process.",
            rich_help_panel=_PROOF,
        ),
    ] = 600.0,
    max_runs: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=2,
            help="With `--verify`: maximum number of compilations.",
            rich_help_panel=_PROOF,
        ),
    ] = 40,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="INPUTS",
            help="With `--verify`: other inputs, by name and shape, such as 'x: 3x8, lengths: 3'. "
            "What is compiled for the first inputs must hold for these. Repeatable.",
            rich_help_panel=_PROOF,
            show_default=False,
        ),
    ] = None,
    unsafe_fixes: options.UnsafeFixes = False,
    remedies: Annotated[
        Remedies | None,
        typer.Option(
            help="How to treat findings that no fix removes: turn on Dynamo settings where the "
            "project compiles.",
            rich_help_panel=options.FIXES,
            show_default=False,
        ),
    ] = None,
    speed: Annotated[
        bool,
        typer.Option(
            help="With `--verify`: time the kept fixes, and drop the ones that are slower.",
            rich_help_panel=_PROOF,
        ),
    ] = True,
    diff: Annotated[
        bool,
        typer.Option(
            "--diff",
            help="Print the changes as a diff and write nothing.",
            rich_help_panel=options.REPORT,
        ),
    ] = False,
    output_format: Annotated[
        Format,
        typer.Option(
            help="Format of the report; `json` contains every edit.", rich_help_panel=options.REPORT
        ),
    ] = Format.TEXT,
    select: options.Select = None,
    ignore: options.Ignore = None,
    config: options.ConfigOption = None,
    isolated: options.Isolated = False,
    rules: options.Rules = None,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    scope: options.Scope = None,
    target_torch: options.TargetTorch = None,
    min_torch: options.MinTorch = None,
    weak: options.Weak = False,
    leave_out: options.LeaveOut = None,
    baseline: options.Baseline = None,
    diff_only: options.DiffOnly = None,
    stdin_filename: options.StdinFilename = None,
    quiet: options.Quiet = False,
    exit_zero: options.ExitZero = False,
    exit_non_zero_on_fix: Annotated[
        bool,
        typer.Option(
            "--exit-non-zero-on-fix",
            help="Exit with 1 if anything was fixed.",
            rich_help_panel=options.REPORT,
        ),
    ] = False,
    jobs: options.Jobs = 0,
) -> None:
    """Apply the fixes that are proved safe, and leave every other byte alone.

    Only findings that `check` shows with the same options are fixed. With `-`, the fixed code is
    printed to standard output.
    """
    from tclint.cli.configuration import Overrides
    from tclint.cli.fixing import FixOptions, run_fix
    from tclint.cli.inputs import gather, to_change
    from tclint.cli.narrowing import Narrowing

    if rules:
        from tclint.lint.local_rules import load_rules_of

        load_rules_of(rules)
        jobs = jobs if sys.platform == "linux" else 1  # only forks know these rules
    overrides = Overrides(
        select=select,
        ignore=ignore,
        entries=config or (),
        isolated=isolated,
        exclude=exclude,
        force_exclude=force_exclude,
        scope=scope,
        target_torch=target_torch,
        min_torch=min_torch,
        weak=weak,
        leave_out=leave_out,
    )
    if vary and not verify:
        raise typer.BadParameter("--vary needs --verify")
    how = FixOptions(
        unsafe=unsafe_fixes,
        settings=remedies is not None,
        diff=diff,
        as_json=output_format is Format.JSON,
        quiet=quiet,
        exit_zero=exit_zero,
        exit_non_zero_on_fix=exit_non_zero_on_fix,
        narrowing=Narrowing(baseline, diff_only),
        jobs=jobs,
    )
    if verify:
        from tclint.cli.confirming import run_confirmed
        from tclint.verify.arms import Options

        running = Options(
            phase=phase.value, time_limit=time_limit, speed=speed, vary=tuple(vary or ())
        )
        raise typer.Exit(run_confirmed(paths or [], overrides, how, running, max_runs))
    raise typer.Exit(run_fix(to_change(gather(paths, overrides, stdin_filename), paths or ()), how))
